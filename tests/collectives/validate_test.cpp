#include "collectives/record.hpp"

#include <doctest/doctest.h>

#include <string>

#include "collectives/point.hpp"
#include "collectives/schedule/swing.hpp"
#include "collectives/validate.hpp"

using namespace stepsim::collectives;
using stepsim::collectives::test::point;
using Id = AlgorithmId;

namespace {

Collective good(Op op = Op::allreduce, Id id = Id::ring) {
  return point(op, id, 4, 1000, {1e-5, 8e-10, 1e-10});
}

// "what: message" of the only finding.
std::string finding(const Collective& collective, AskedMethod method = AskedMethod::automatic) {
  const std::vector<Finding> findings = validate(collective, method);
  REQUIRE(findings.size() == 1);
  return findings.front().what + ": " + findings.front().message;
}

template <class Change> std::string after(Collective collective, Change change) {
  change(collective);
  return finding(collective);
}

} // namespace

TEST_CASE("validate: a usual collective has no findings") {
  CHECK(validate(good()).empty());
  CHECK(validate(good(Op::allreduce, Id::automatic)).empty());
  Collective one = good();
  one.ranks = 1;
  CHECK(validate(one).empty());
}

TEST_CASE("validate: values that are in range and do not fit the others") {
  const auto with = [](auto change) { return after(good(), change); };
  CHECK(with([](Collective& c) { c.bytes = 0x1p54; }) ==
        "bytes: must be at most 2^53 bytes, got 18014398509481984");
  CHECK(with([](Collective& c) { c.links.all.per_byte_s = 0; }) ==
        "bandwidth_Bps: must be > 0, with a finite time per byte");
  CHECK(with([](Collective& c) { c.options.element_bytes = 3; }) ==
        "bytes: 1000 bytes are not a multiple of element_bytes 3");
  CHECK(with([](Collective& c) { c.links.all.latency_s = 5e-6; }) ==
        "block_latency_s: per-block latency must not exceed latency_s 5e-06, got 1e-05");
  CHECK(with([](Collective& c) { c.root = 4; }) == "root: must be 0 to 3, got 4");
}

TEST_CASE("validate: several problems are all told") {
  Collective c = good();
  c.root = 9;
  c.links.all.per_byte_s = 0;
  c.sizes = {1, 2, 3, 4};
  const std::vector<Finding> findings = validate(c);
  REQUIRE(findings.size() == 3);
  CHECK(findings[0].what == "root");
  CHECK(findings[1].what == "bandwidth_Bps");
  CHECK(findings[2].what == "sizes");
}

TEST_CASE("validate: an algorithm that the operation does not have, with those it has") {
  CHECK(finding(good(Op::allgather, Id::lp)) ==
        "algorithm: lp is not defined for allgather; valid: be, bruck, ring, mst, "
        "recursive_doubling, ring_rails, two_level, nvls");
  CHECK(finding(good(Op::broadcast, Id::double_binary_tree)) ==
        "algorithm: double_binary_tree is not defined for broadcast; valid: mst, be, lp, "
        "ring_rails, two_level");
}

TEST_CASE("validate: a form of cost that the algorithm does not have") {
  Collective c = good(Op::allreduce, Id::bruck);
  c.options.cost_form = CostForm::ideal;
  CHECK(finding(c) == "cost_form: bruck has no ideal form; valid: double_binary_tree");
  c.algorithm = Id::automatic;
  CHECK(finding(c) == "cost_form: auto has no ideal form; valid: double_binary_tree");
  c.op = Op::broadcast;
  c.algorithm = Id::mst;
  CHECK(finding(c) == "cost_form: mst has no ideal form; valid: none");
  c.options.cost_form = CostForm::paper;
  CHECK(validate(c).empty());
  c.enter_s = {0, 1, 0, 0};
  CHECK(finding(c) == "cost_form: must be exact: formulas need identical ranks and links");
}

TEST_CASE("validate: only allgatherv has sizes, and every link keeps its block latency below") {
  CHECK(after(good(), [](Collective& c) {
          c.sizes = {1, 2, 3, 4};
        }) == "sizes: only allgatherv has sizes per rank, not allreduce");
  CHECK(after(good(),
              [](Collective& c) {
                c.links.pairs = {{0, 1, {1e-6, 1e-6, 1e-9}}, {1, 0, {1e-6, 2e-6, 1e-9}}};
              }) ==
        "links/1/block_latency_s: per-block latency must not exceed latency_s 1e-06, got "
        "2e-06");
}

TEST_CASE("validate: two levels, parameter servers, candidates") {
  Collective two = good(Op::allreduce, Id::hierarchical);
  two.links.two_level = TwoLevel{3, 1, {1e-6, 1e-6, 1e-11}};
  CHECK(finding(two) ==
        "gpus_per_node: 4 ranks are no multiple of 3 per node; use hierarchical_leader");
  two.links.two_level->gpus_per_node = 2;
  two.options.inter_algorithm = Id::parameter_server;
  CHECK(finding(two) == "inter_algorithm: must be one of recursive_doubling, be, bruck, ring, "
                        "double_binary_tree, lp, mst, got parameter_server");
  two.options.inter_algorithm = Id::be;
  CHECK(validate(two).empty());

  Collective server = good(Op::allreduce, Id::parameter_server);
  server.options.servers = 5;
  CHECK(validate(server).empty());
  server.options.placement = Placement::colocated;
  CHECK(finding(server) == "servers: colocated servers must be 1 to 4, got 5");

  Collective choice = good(Op::broadcast, Id::automatic);
  choice.options.candidates = {Id::mst, Id::ring};
  Collective odd = good(Op::allreduce, Id::automatic);
  odd.ranks = 3;
  odd.options.candidates = {Id::mst, kSwing};
  CHECK(finding(odd) == "candidates/1: swing needs an even number of ranks, got 3");
  odd.ranks = 4;
  CHECK(validate(odd).empty());
  CHECK(finding(choice) == "candidates/1: ring is no candidate for broadcast; valid: mst, be, lp, "
                           "ring_rails, two_level");
}

TEST_CASE("validate: the closed form must exist") {
  Collective c = good();
  CHECK(validate(c, AskedMethod::closed_form).empty());
  c.enter_s = {0, 1, 0, 0};
  CHECK(finding(c, AskedMethod::closed_form) ==
        "method: the closed form needs identical ranks entering together; use --method max_plus");
  CHECK(validate(c, AskedMethod::max_plus).empty());
  Collective lp = good(Op::allreduce, Id::lp);
  lp.options.block = stepsim::Bytes{1000000};
  lp.bytes = 1e6;
  lp.reduction_s_per_byte = 1e-6; // an addition takes longer than a hop
  CHECK(finding(lp, AskedMethod::closed_form) ==
        "method: lp allreduce has no closed form at these values; use --method max_plus");
}
