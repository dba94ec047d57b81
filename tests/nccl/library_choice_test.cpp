// Which algorithm and protocol the library picks, by size, system and restrictions (CLU 6, 16.1).
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "nccl/library_systems.hpp"

using namespace stepsim::nccl;
using namespace stepsim::nccl::testing;

namespace {

// "ring/ll 3, nvls/simple 21": the pairs from 2^3 to 2^34 bytes with the first power of each.
std::string ladder(std::string_view system, Operation operation, Shape shape) {
  LibraryOptions options;
  options.version = Version{2, 22};
  std::string result;
  std::string last;
  for (int power = 3; power <= 34; ++power) {
    const Pair pair =
        predicted(system_of(system), operation, shape, std::ldexp(1, power), options).chosen;
    const std::string word =
        std::string(kAlgorithms[pair.algorithm]) + "/" + std::string(kProtocols[pair.protocol]);
    if (word != last) {
      result += (result.empty() ? "" : ", ") + word + " " + std::to_string(power);
      last = word;
    }
  }
  return result;
}

// Message of the UsageError, or "".
template <class Function> std::string refusal(Function function) {
  try {
    function();
  } catch (const stepsim::UsageError& error) {
    return error.what();
  }
  return "";
}

} // namespace

TEST_CASE("library: the choice climbs from LL over LL128 to Simple with the size") {
  using enum Operation;
  CHECK(ladder("dgx_h100", allreduce, {1, 8}) == "ring/ll 3, nvls/simple 21");
  CHECK(ladder("dgx_h100", allreduce, {10, 8}) ==
        "tree/ll 3, tree/ll128 18, nvls_tree/simple 26, ring/simple 32");
  CHECK(ladder("dgx_h100", allreduce, {10, 4}) ==
        "tree/ll 3, tree/ll128 18, nvls_tree/simple 26, ring/simple 29");
  CHECK(ladder("dgx_h100", allgather, {10, 8}) == "ring/ll 3, ring/ll128 21, ring/simple 29");
  CHECK(ladder("dgx_h100", allgather, {10, 4}) == "ring/ll 3, ring/ll128 21, ring/simple 27");
  CHECK(ladder("dgx_h100", allgather, {10, 1}) == "ring/ll 3, ring/ll128 21, ring/simple 23");
  CHECK(ladder("dgx_a100", allreduce, {1, 8}) == "ring/ll 3, ring/ll128 22, ring/simple 25");
  CHECK(ladder("dgx_a100", allreduce, {2, 8}) == "tree/ll 3, tree/ll128 18, tree/simple 29");
  CHECK(ladder("p5", allreduce, {2, 8}) == "tree/ll 3, tree/ll128 18, nvls_tree/simple 23");
}

TEST_CASE("library: PAT is offered from version 2.23 on, with one GPU per node") {
  const NodeType h100 = system_of("dgx_h100");
  LibraryOptions options;
  options.algorithms = {Algorithm::pat};
  const auto chosen = [&](Operation operation, Shape shape) {
    return predicted(h100, operation, shape, 1024, options).chosen.algorithm;
  };
  CHECK(chosen(Operation::allgather, {8, 1}) == Algorithm::pat);
  CHECK(chosen(Operation::reduce_scatter, {8, 1}) == Algorithm::pat);
  CHECK_THROWS_AS((void)chosen(Operation::allgather, {8, 2}), stepsim::UsageError);
  CHECK_THROWS_AS((void)chosen(Operation::allreduce, {8, 1}), stepsim::UsageError);
  CHECK_THROWS_AS((void)chosen(Operation::allgather, {1, 1}), stepsim::UsageError);
  options.version = Version{2, 22};
  CHECK_THROWS_AS((void)chosen(Operation::allgather, {8, 1}), stepsim::UsageError);
}

TEST_CASE("library: CollNet is offered only if it is asked for") {
  const NodeType h100 = system_of("dgx_h100");
  LibraryOptions options;
  options.algorithms = {Algorithm::collnet};
  const auto run = [&](const NodeType& node, Operation operation) {
    return predicted(node, operation, {4, 8}, 1e8, options);
  };
  CHECK_THROWS_AS((void)run(h100, Operation::allreduce), stepsim::UsageError);
  options.collnet = true;
  CHECK(run(h100, Operation::allreduce).chosen.algorithm == Algorithm::collnet);
  CHECK_THROWS_AS((void)run(h100, Operation::broadcast), stepsim::UsageError);
  CHECK_THROWS_AS((void)run(system_of("dgx_a100"), Operation::allreduce), stepsim::UsageError);
}

TEST_CASE("library: restrictions act as NCCL's environment variables do") {
  const NodeType h100 = system_of("dgx_h100");
  LibraryOptions options;
  options.algorithms = {Algorithm::ring, Algorithm::tree};
  options.protocols = {Protocol::simple};
  CHECK(predicted(h100, Operation::allreduce, {10, 8}, 1024, options).chosen ==
        Pair{Algorithm::tree, Protocol::simple});
  options.protocols = {Protocol::ll128};
  options.ll128 = false;
  CHECK(refusal([&] {
          (void)predicted(h100, Operation::allreduce, {10, 8}, 1024, options);
        }) == "allreduce: the algorithms and protocols that are allowed leave the library nothing");
  NodeType bridged = h100;
  bridged.ll128 = false;
  CHECK(predicted(bridged, Operation::allgather, {1, 8}, 1 << 24).chosen.protocol !=
        Protocol::ll128);
}

TEST_CASE("library: nvls alone says which condition failed") {
  LibraryOptions options;
  options.algorithms = {Algorithm::nvls};
  const auto why = [&](std::string_view system, Shape shape) {
    return refusal(
        [&] { (void)predicted(system_of(system), Operation::allreduce, shape, 1e6, options); });
  };
  CHECK(why("dgx_h100", {1, 2}) == "nvls: a node needs at least 3 GPUs");
  CHECK(why("dgx_h100", {2, 8}) ==
        "nvls: it works inside one node; with several ask for nvls_tree");
  CHECK(why("dgx_a100", {1, 8}) == "nvls: nodes of dgx_a100 have no switch that reduces");
  options.element_type = ElementType::fp8_e4m3;
  CHECK(why("dgx_h100", {1, 8}) == "nvls: the switch does not add fp8_e4m3");
}

TEST_CASE("library: fp8 never chooses a switch for a reduction, and all-gather does not care") {
  const NodeType h100 = system_of("dgx_h100");
  for (const ElementType type : {ElementType::fp8_e4m3, ElementType::fp8_e5m2, ElementType::int8}) {
    LibraryOptions options;
    options.element_type = type;
    for (int power = 3; power <= 34; ++power) {
      const double bytes = std::ldexp(1, power);
      for (const Shape shape : {Shape{1, 8}, Shape{1, 4}, Shape{2, 8}, Shape{10, 8}}) {
        for (const Operation operation : {Operation::allreduce, Operation::reduce_scatter}) {
          const Algorithm chosen =
              predicted(h100, operation, shape, bytes, options).chosen.algorithm;
          CHECK(chosen != Algorithm::nvls);
          CHECK(chosen != Algorithm::nvls_tree);
        }
        CHECK(predicted(h100, Operation::allgather, shape, bytes, options).seconds ==
              predicted(h100, Operation::allgather, shape, bytes).seconds);
      }
    }
  }
}

TEST_CASE("library: versions are read as logs and people write them") {
  CHECK(parse_version("2.29") == Version{2, 29});
  CHECK(parse_version("2.8.4") == Version{2, 8});
  CHECK(parse_version("22902") == Version{2, 29});
  for (const char* wrong :
       {"", "2", "2.", "2.29.", "2.29.2.", "22902.", "two", "2.29.2.1", "2.x", "-2.1", "0.9"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS((void)parse_version(wrong), stepsim::UsageError);
  }
}

TEST_CASE("library: shapes that no system has are refused with their reason") {
  const NodeType h100 = system_of("dgx_h100");
  const auto why = [](const NodeType& node, Shape shape) {
    return refusal([&] { (void)layout_of(node, shape); });
  };
  CHECK(why(h100, {0, 8}) == "shape must be NODESxGPUS with at least one of each, got 0x8");
  CHECK(why(h100, {2, 9}) == "shape 2x9: a node of dgx_h100 has 8 GPUs");
  CHECK(why(system_of("gb200_nvl72"), {20, 4}) ==
        "nvlink_domain_nodes (18) does not divide the number of nodes (20)");
  CHECK(layout_of(system_of("gb200_nvl72"), {36, 4}).gpus == 72);
  CHECK(layout_of(system_of("gb200_nvl72"), {4, 4}).nodes == 1);
}
