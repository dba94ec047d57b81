// Times and choices of the library model against the values of CLU 16.1 and 16.2, which are shown
// to one nanosecond.
#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "nccl/chosen_time.hpp"
#include "nccl/library_systems.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::nccl;
using namespace stepsim::nccl::testing;
using stepsim::testing::plus_minus;

namespace {

constexpr double kShown = 0.5001e-3; // microseconds: half of the last digit

struct Expected {
  std::string_view system;
  Operation operation;
  Shape shape;
  double bytes;
  Pair chosen;
  double published_us;
  double default_us;
};

const Expected kExpected[] = {
    {"dgx_h100",
     Operation::allreduce,
     {1, 8},
     1024,
     {Algorithm::ring, Protocol::ll},
     15.013,
     15.122},
    {"dgx_h100",
     Operation::allreduce,
     {1, 8},
     1048576,
     {Algorithm::ring, Protocol::ll},
     28.014,
     31.507},
    {"dgx_h100",
     Operation::allreduce,
     {1, 8},
     1073741824,
     {Algorithm::nvls, Protocol::simple},
     3857.602,
     3973.185},
    {"dgx_h100",
     Operation::allreduce,
     {1, 4},
     1073741824,
     {Algorithm::nvls, Protocol::simple},
     4283.447,
     4404.404},
    {"dgx_h100",
     Operation::allreduce,
     {1, 2},
     1073741824,
     {Algorithm::ring, Protocol::simple},
     2910.944,
     2963.393},
    {"dgx_h100",
     Operation::allgather,
     {1, 8},
     16777216,
     {Algorithm::ring, Protocol::ll128},
     70.333,
     78.902},
    {"dgx_h100",
     Operation::allgather,
     {10, 8},
     134217728,
     {Algorithm::ring, Protocol::ll128},
     634.431,
     706.286},
    {"dgx_h100",
     Operation::allgather,
     {10, 8},
     1073741824,
     {Algorithm::ring, Protocol::simple},
     3231.947,
     3896.898},
    {"dgx_h100",
     Operation::reduce_scatter,
     {10, 4},
     67108864,
     {Algorithm::ring, Protocol::ll128},
     552.716,
     607.312},
    {"dgx_h100",
     Operation::reduce_scatter,
     {10, 4},
     268435456,
     {Algorithm::ring, Protocol::simple},
     1599.549,
     1741.466},
    {"dgx_h100",
     Operation::allgather,
     {10, 1},
     1073741824,
     {Algorithm::ring, Protocol::simple},
     20267.059,
     20678.294},
    {"dgx_h100",
     Operation::allreduce,
     {10, 1},
     1073741824,
     {Algorithm::ring, Protocol::simple},
     40629.878,
     41587.712},
    {"dgx_h100",
     Operation::allreduce,
     {10, 2},
     1073741824,
     {Algorithm::ring, Protocol::simple},
     21710.900,
     22492.342},
    {"dgx_h100",
     Operation::allreduce,
     {10, 8},
     65536,
     {Algorithm::tree, Protocol::ll},
     55.908,
     61.409},
    {"dgx_h100",
     Operation::allreduce,
     {10, 8},
     33554432,
     {Algorithm::tree, Protocol::ll128},
     315.652,
     350.324},
    {"dgx_h100",
     Operation::allreduce,
     {10, 8},
     1073741824,
     {Algorithm::nvls_tree, Protocol::simple},
     6229.101,
     6000.347},
    {"dgx_h100",
     Operation::allreduce,
     {10, 8},
     4294967296,
     {Algorithm::ring, Protocol::simple},
     23907.337,
     28321.078},
    {"dgx_h100",
     Operation::allreduce,
     {2, 8},
     1073741824,
     {Algorithm::nvls_tree, Protocol::simple},
     4232.672,
     4056.638},
    {"dgx_h100", Operation::allreduce, {32, 8}, 8, {Algorithm::tree, Protocol::ll}, 65.201, 65.257},
    {"dgx_h100",
     Operation::broadcast,
     {2, 8},
     67108864,
     {Algorithm::ring, Protocol::ll128},
     306.572,
     298.414},
    {"dgx_h100",
     Operation::reduce,
     {1, 8},
     67108864,
     {Algorithm::ring, Protocol::simple},
     192.784,
     204.337},
    {"dgx_a100",
     Operation::allreduce,
     {1, 8},
     4096,
     {Algorithm::ring, Protocol::ll},
     15.082,
     15.359},
    {"dgx_a100",
     Operation::allreduce,
     {1, 8},
     524288,
     {Algorithm::ring, Protocol::ll},
     25.462,
     28.594},
    {"dgx_a100",
     Operation::allreduce,
     {1, 8},
     268435456,
     {Algorithm::ring, Protocol::simple},
     2013.342,
     2096.111},
    {"dgx_a100",
     Operation::allgather,
     {2, 8},
     1048576,
     {Algorithm::ring, Protocol::ll128},
     52.144,
     56.347},
    {"dgx_a100",
     Operation::allgather,
     {2, 8},
     268435456,
     {Algorithm::ring, Protocol::simple},
     1417.120,
     1510.481},
    {"dgx_a100",
     Operation::allreduce,
     {2, 8},
     8388608,
     {Algorithm::tree, Protocol::ll128},
     138.555,
     155.077},
    {"dgx_a100",
     Operation::allreduce,
     {4, 8},
     65536,
     {Algorithm::tree, Protocol::ll},
     46.698,
     51.727},
    {"dgx_a100",
     Operation::allreduce,
     {16, 8},
     536870912,
     {Algorithm::tree, Protocol::simple},
     6255.101,
     6513.979},
    {"v100x4",
     Operation::allreduce,
     {1, 4},
     1048576,
     {Algorithm::ring, Protocol::ll128},
     39.647,
     44.403},
    {"v100x4",
     Operation::allreduce,
     {8, 4},
     131072,
     {Algorithm::tree, Protocol::ll128},
     95.802,
     106.077},
    {"v100x4",
     Operation::allreduce,
     {32, 4},
     33554432,
     {Algorithm::ring, Protocol::ll128},
     3642.406,
     3986.115},
    {"v100x4",
     Operation::reduce_scatter,
     {4, 4},
     8388608,
     {Algorithm::ring, Protocol::ll128},
     404.974,
     437.933},
    {"p4d",
     Operation::allreduce,
     {2, 8},
     1073741824,
     {Algorithm::tree, Protocol::simple},
     24407.206,
     24781.930},
    {"p4d",
     Operation::allgather,
     {4, 8},
     67108864,
     {Algorithm::ring, Protocol::simple},
     1500.011,
     1611.029},
    {"dgx_b200",
     Operation::allreduce,
     {1, 8},
     1073741824,
     {Algorithm::nvls, Protocol::simple},
     2286.538,
     2379.084},
    {"dgx_b200",
     Operation::allreduce,
     {2, 8},
     1073741824,
     {Algorithm::nvls_tree, Protocol::simple},
     3106.151,
     2999.672},
    {"dgx_b200",
     Operation::allgather,
     {4, 8},
     1073741824,
     {Algorithm::ring, Protocol::simple},
     2854.421,
     3011.425},
    {"gb200_nvl72",
     Operation::allreduce,
     {18, 4},
     4294967296,
     {Algorithm::nvls, Protocol::simple},
     8177.703,
     8338.843},
};

// Versions before PAT, as the table has them.
LibraryOptions before_pat() {
  LibraryOptions options;
  options.version = Version{2, 22};
  return options;
}

} // namespace

TEST_CASE("library: choice, estimate and time of published constants on seven systems") {
  for (const Expected& each : kExpected) {
    CAPTURE(each.system);
    CAPTURE(text(each.shape));
    CAPTURE(each.bytes);
    const LibraryRecord record =
        predicted(system_of(each.system), each.operation, each.shape, each.bytes, before_pat());
    CHECK(record.chosen == each.chosen);
    CHECK(record.published_s * 1e6 == plus_minus(each.published_us, kShown));
    CHECK(record.seconds * 1e6 == plus_minus(each.default_us, kShown));
  }
}

TEST_CASE("library: explicit parameters move the parts they act on") {
  Parameters parameters = prior_means();
  const auto set = [&](Parameter parameter, double value) {
    const bool plain = row_of(parameter).plain;
    parameters[static_cast<std::size_t>(parameter)] = plain ? value : std::log(value);
  };
  set(Parameter::base, 2);
  set(Parameter::in_simple, 0.5);
  set(Parameter::net_simple, 0.5);
  set(Parameter::bw_nic, 1.03);
  set(Parameter::kappa, 0.1);
  set(Parameter::rail, 4);
  struct Row {
    Operation operation;
    Shape shape;
    int log2_bytes;
    Pair published;
    double published_us;
    Pair calibrated;
    double calibrated_us;
  };
  constexpr Pair kP2p{Algorithm::p2p};
  constexpr Pair kRing{Algorithm::ring};
  constexpr Pair kRing128{Algorithm::ring, Protocol::ll128};
  constexpr Pair kNvls{Algorithm::nvls};
  constexpr Pair kNvlsTree{Algorithm::nvls_tree};
  constexpr Pair kTreeLl{Algorithm::tree, Protocol::ll};
  const Row rows[] = {
      {Operation::alltoall, {2, 1}, 30, kP2p, 13647.735, kP2p, 13647.735},
      {Operation::alltoall, {2, 8}, 30, kP2p, 10992.681, kP2p, 10992.681},
      {Operation::alltoall, {10, 8}, 25, kP2p, 966.262, kP2p, 966.262},
      {Operation::alltoall, {1, 8}, 20, kP2p, 27.042, kP2p, 27.042},
      {Operation::allgather, {10, 8}, 30, kRing, 3821.317, kRing, 3821.317},
      {Operation::allreduce, {10, 8}, 28, kNvlsTree, 1781.487, kNvlsTree, 1781.487},
      {Operation::allreduce, {10, 4}, 31, kRing, 21963.697, kRing, 21963.697},
      {Operation::allreduce, {1, 8}, 26, kNvls, 290.692, kNvls, 290.692},
      {Operation::broadcast, {4, 8}, 27, kRing128, 570.986, kRing, 515.470},
      {Operation::reduce, {2, 4}, 20, kRing128, 52.304, kRing, 40.645},
      {Operation::reduce_scatter, {10, 1}, 28, kRing, 5028.814, kRing, 5028.814},
      {Operation::allreduce, {4, 8}, 14, kTreeLl, 125.968, kTreeLl, 125.968},
  };
  LibraryModel model;
  model.multipliers = multipliers_of(parameters);
  model.restrictions.version = {2, 22};
  for (const Row& row : rows) {
    CAPTURE(kOperations[row.operation]);
    CAPTURE(text(row.shape));
    const Layout layout = layout_of(system_of("dgx_h100"), row.shape);
    const double bytes = std::ldexp(1, row.log2_bytes);
    model.choice = Choice::published;
    CHECK(choose_pair(model, layout, row.operation, bytes).chosen == row.published);
    CHECK(chosen_time(model, layout, row.operation, bytes).seconds * 1e6 ==
          plus_minus(row.published_us, kShown));
    model.choice = Choice::calibrated;
    CHECK(choose_pair(model, layout, row.operation, bytes).chosen == row.calibrated);
    CHECK(chosen_time(model, layout, row.operation, bytes).seconds * 1e6 ==
          plus_minus(row.calibrated_us, kShown));
  }
}
