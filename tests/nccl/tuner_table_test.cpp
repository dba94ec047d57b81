// The table for NCCL's tuner plug-in: lines cover every size once and give back the choice of every
// size of the grid (CLU 12, 14).
#include <doctest/doctest.h>

#include <cmath>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "nccl/library_systems.hpp"
#include "nccl/tuner_table.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::nccl;
using namespace stepsim::nccl::testing;
using stepsim::testing::within;

namespace {

std::vector<double> powers(int first, int last) {
  std::vector<double> sizes;
  for (int power = first; power <= last; ++power) {
    sizes.push_back(std::ldexp(1, power));
  }
  return sizes;
}

// A model whose Simple latencies are half of the published ones and whose LL128 is slow.
LibraryModel other_model() {
  LibraryModel model{
      .multipliers = published_multipliers(), .choice = Choice::published, .restrictions = {}};
  model.multipliers[Parameter::in_simple] = 0.5;
  model.multipliers[Parameter::net_simple] = 0.5;
  model.multipliers[Parameter::eff_ll128] = 0.6;
  return model;
}

struct Row {
  std::string operation;
  std::uint64_t first{};
  std::uint64_t last{};
  std::string algorithm;
  std::string protocol;
  std::string rest;
};

// As the plug-in reads it: comments start with #, fields are separated by commas.
std::vector<Row> parsed(const std::string& text) {
  std::vector<Row> rows;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') {
      continue;
    }
    std::istringstream fields(line);
    Row row;
    std::string first;
    std::string last;
    std::getline(fields, row.operation, ',');
    std::getline(fields, first, ',');
    std::getline(fields, last, ',');
    std::getline(fields, row.algorithm, ',');
    std::getline(fields, row.protocol, ',');
    std::getline(fields, row.rest);
    row.first = std::stoull(first);
    row.last = std::stoull(last);
    rows.push_back(row);
  }
  return rows;
}

} // namespace

TEST_CASE("library: a tuner table covers every size once and gives back every choice") {
  const std::map<std::string, Operation> words{{"broadcast", Operation::broadcast},
                                               {"reduce", Operation::reduce},
                                               {"allreduce", Operation::allreduce},
                                               {"reducescatter", Operation::reduce_scatter},
                                               {"allgather", Operation::allgather}};
  const std::vector<double> sizes = powers(3, 31);
  int changes = 0;
  for (const std::string_view system : {"dgx_h100", "dgx_a100", "v100x4", "p4d"}) {
    for (const Shape shape : {Shape{1, 4}, Shape{2, 4}, Shape{10, 4}, Shape{32, 2}}) {
      const NodeType node = system_of(system);
      const Layout layout = layout_of(node, shape);
      std::vector<TunerLine> lines;
      std::map<Operation, std::vector<TunerSize>> chosen;
      for (const Operation operation : kTunerOperations) {
        chosen[operation] = tuner_sizes(other_model(), layout, operation, sizes, 0);
        const auto more = tuner_lines(operation, chosen[operation], kTunerLastByte);
        lines.insert(lines.end(), more.begin(), more.end());
      }
      const std::vector<Row> rows = parsed(tuner_text(lines, shape, "for the test"));
      REQUIRE(rows.size() == lines.size());
      std::map<std::string, std::uint64_t> next; // first byte that no line has
      for (const Row& row : rows) {
        CHECK(row.first == next[row.operation]);
        CHECK(row.last >= row.first);
        next[row.operation] = row.last + 1;
        CHECK(row.rest == "-1," + std::to_string(shape.nodes) + "," +
                              std::to_string(shape.nodes * shape.gpus) + ",-1,-1");
      }
      CHECK(next.size() == words.size());
      for (const auto& [word, end] : next) {
        CHECK(end == kTunerLastByte + 1);
        for (const TunerSize& size : chosen[words.at(word)]) {
          int covered = 0;
          for (const Row& row : rows) {
            if (row.operation == word && static_cast<double>(row.first) <= size.bytes &&
                size.bytes <= static_cast<double>(row.last)) {
              ++covered;
              CHECK(row.algorithm == kAlgorithms[size.pair.algorithm]);
              CHECK(row.protocol == kProtocols[size.pair.protocol]);
            }
          }
          CHECK(covered == 1);
          changes += size.differs;
        }
      }
    }
  }
  CHECK(changes > 100);
}

TEST_CASE("library: a tuner table differs from the published choice only where it gains enough") {
  const Layout layout = layout_of(system_of("dgx_h100"), {10, 8});
  const std::vector<double> sizes = powers(10, 31);
  const LibraryModel model = other_model();
  int kept = 0;
  for (const Operation operation : kTunerOperations) {
    const auto any = tuner_sizes(model, layout, operation, sizes, 0);
    const auto some = tuner_sizes(model, layout, operation, sizes, 0.1);
    REQUIRE(any.size() == some.size());
    for (std::size_t i = 0; i < any.size(); ++i) {
      REQUIRE(any[i].gain.has_value());
      CHECK(some[i].differs == (any[i].differs && *any[i].gain >= 0.1));
      kept += any[i].differs && !some[i].differs;
      // The gain is that of the model: by how much the other pair is faster.
      const auto seconds = [&](Pair pair) {
        return operation_time(layout, operation, any[i].bytes, pair, model.multipliers).seconds;
      };
      LibraryModel published = model;
      const Pair usual = choose_pair(published, layout, operation, any[i].bytes).chosen;
      CHECK(*any[i].gain == within(seconds(usual) / seconds(any[i].pair) - 1, 1e-12));
      CHECK(any[i].differs == !(usual == any[i].pair));
    }
  }
  CHECK(kept > 0);
  // With the published constants there is nothing to gain where the estimate is the cost.
  const LibraryModel same{
      .multipliers = published_multipliers(), .choice = Choice::published, .restrictions = {}};
  for (const TunerSize& size : tuner_sizes(same, layout, Operation::allgather, sizes, 0)) {
    CHECK_FALSE(size.differs);
  }
}

TEST_CASE("library: the boundary between two lines is the geometric mean, rounded down") {
  const Pair ll{Algorithm::ring, Protocol::ll};
  const Pair simple{Algorithm::ring, Protocol::simple};
  const std::vector<TunerSize> sizes{{1000, ll, 0.0, false},
                                     {2000, ll, 0.5, true},
                                     {5000, simple, std::nullopt, true},
                                     {8000, simple, 0.25, true},
                                     {90000, ll, 0.0, false}};
  const auto lines = tuner_lines(Operation::broadcast, sizes, 10000);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].first_byte == 0);
  CHECK(lines[0].last_byte == 3162); // sqrt(2000 * 5000) = 3162.28
  CHECK(lines[1].first_byte == 3163);
  CHECK(lines[1].last_byte == 10000);
  CHECK(lines[0].gain.value() == within(0.25, 1e-12));
  CHECK(lines[1].gain.value() == within(0.25, 1e-12));
  CHECK(tuner_text(lines, {2, 8}, "x") ==
        "# x\n# collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,"
        "numPipeOps,regBuff\n"
        "broadcast,0,3162,ring,ll,-1,2,16,-1,-1\nbroadcast,3163,10000,ring,simple,-1,2,16,-1,-1\n");
}

TEST_CASE("library: measured times choose the pair with the least time at each size") {
  const Layout layout = layout_of(system_of("dgx_a100"), {2, 8});
  const Pair ll{Algorithm::ring, Protocol::ll};
  const Pair ll128{Algorithm::ring, Protocol::ll128};
  const Pair simple{Algorithm::ring, Protocol::simple};
  // Published: ring/ll128 at 1 MiB, ring/simple at 256 MiB (CLU 16.1).
  const double small = std::ldexp(1, 20);
  const double large = std::ldexp(1, 28);
  const std::vector<ForcedTime> times{
      {Operation::allgather, large, simple, 1.00e-3}, {Operation::allgather, small, ll128, 50e-6},
      {Operation::allgather, small, ll, 40e-6},       {Operation::allgather, large, ll, 3e-3},
      {Operation::reduce, small, ll, 1e-6},           {Operation::allgather, 512, simple, 9e-6}};
  const auto sizes = tuner_sizes(times, layout, Operation::allgather, {}, 0.05);
  REQUIRE(sizes.size() == 3);
  CHECK(sizes[0].bytes == 512);
  CHECK(sizes[0].pair == simple); // nothing to compare with
  CHECK_FALSE(sizes[0].gain.has_value());
  CHECK(sizes[1].pair == ll);
  CHECK(sizes[1].gain.value() == within(0.25, 1e-12));
  CHECK(sizes[2].pair == simple);
  CHECK_FALSE(sizes[2].differs);
  const auto careful = tuner_sizes(times, layout, Operation::allgather, {}, 0.3);
  CHECK(careful[1].pair == ll128);
}
