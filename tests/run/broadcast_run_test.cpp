// zero1 whose tensors have owners, as those of PyTorch's ZeroRedundancyOptimizer. All times follow
// by hand from alpha and beta.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "run/period_figures.hpp"
#include "run/run_timeline.hpp"
#include "run/scenario_program.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_training.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

const std::string kWhole = R"("parameter_bytes": 4)";
const std::string kHalf = R"("parameter_bytes": 2)";

// Tensors a to d of 1, 2, 3 and 4 values; a message takes 0.5 s + 0.125 s per byte, an all-reduce
// 2 rounds of whole messages among two ranks and 4 among three (mst), a broadcast half of that.
//
//     forward 5, backward d 7, c 9, b 11, a 13      computing
//     d 7-12, c -16, b -19, a -21                   all-reduces of 5, 4, 3, 2 s (2 ranks)
//     d 7-17, c -25, b -31, a -35                   of 10, 8, 6, 4 s (3 ranks)
std::string scenario_of(int nodes, const std::string& by, const std::string& sharding = kWhole,
                        const std::string& training = "",
                        const std::string& network = R"("latency_s": 0.5, "bandwidth_Bps": 8)",
                        const std::string& collective = "mst") {
  return R"({"allow_unusual": true, "workload": {"layers": [
    {"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4},
    {"name": "b", "forward_s": 2, "backward_s": 2, "gradient_bytes": 8},
    {"name": "c", "forward_s": 1, "backward_s": 2, "gradient_bytes": 12},
    {"name": "d", "forward_s": 1, "backward_s": 2, "gradient_bytes": 16}]},
    "cluster": {"nodes": )" +
         std::to_string(nodes) + R"(, "network": {)" + network +
         R"(}}, "training": {"update_s": 1, )" + training +
         R"("sharding": {"strategy": "zero1", "reduce_bytes": 4,
         "gather_by": ")" +
         by + "\", " + sharding + R"(}}, "communication": {"schedule": "wfbp")" +
         (collective.empty() ? "" : R"(, "collective": ")" + collective + "\"") + "}}";
}

Summary summary_of(const std::string& text) { return run_text(text).summary; }

// Period and exposed communication.
Figures figures_of(const std::string& text) {
  const Summary summary = summary_of(text);
  return {*summary.iteration_time_s, *summary.exposed_communication_s};
}

} // namespace

TEST_CASE("owners: tensors go, largest first, to the rank that has least") {
  using Owned = std::vector<std::vector<std::uint32_t>>; // gradients in backward order: d is 0
  CHECK(owned_tensors(scenario(scenario_of(2, "broadcast_view"))) == Owned{{0, 3}, {1, 2}});
  CHECK(owned_tensors(scenario(scenario_of(3, "broadcast_view"))) == Owned{{0}, {1}, {2, 3}});
  CHECK(owned_tensors(scenario(scenario_of(5, "broadcast_view"))) == Owned{{0}, {1}, {2}, {3}, {}});
  CHECK(shard_count(scenario(scenario_of(2, "broadcast_view"))) == 2);
  CHECK(shard_count(scenario(scenario_of(3, "broadcast_view"))) == 2.5);
  CHECK(shard_count(scenario(scenario_of(3, "all_gather"))) == 3);
}

TEST_CASE("owners broadcast behind all-reduces and the update of the rank that updates most") {
  // Two ranks: 21 s, 5 of 10 values updated in 0.5 s; then d 2.5, a 1, c 2 and b 1.5 s, or two
  // views of 5 values, 3 s each.
  CHECK(figures_of(scenario_of(2, "broadcast_tensors")) == Figures{28.5, 15});
  CHECK(figures_of(scenario_of(2, "broadcast_view")) == Figures{27.5, 14});
  // Three ranks: 35 s, 4 of 10 values in 0.4 s; then d 5, c 4, b 3, a 2 s, or d 5, c 4 and a with
  // b 4 s.
  CHECK(figures_of(scenario_of(3, "broadcast_tensors")) == Figures{49.4, 36});
  CHECK(figures_of(scenario_of(3, "broadcast_view")) == Figures{48.4, 35});
  // Beside three workers that update as much each and send nothing.
  CHECK(summary_of(scenario_of(3, "broadcast_view")).speedup == within(3 * 13.4 / 48.4, 1e-12));
  // The last micro-batch alone is reduced.
  CHECK(figures_of(scenario_of(2, "broadcast_view", kWhole, R"("micro_batches": 2, )")) ==
        Figures{40.5, 14});
  // Parameters of 2 bytes are broadcast in less time: 1.5 + 0.75 + 1.25 + 1 s.
  CHECK(figures_of(scenario_of(2, "broadcast_tensors", kHalf)) == Figures{26, 12.5});
}

TEST_CASE("owners: by a measured curve a broadcast is to an all-reduce as a chain to a ring") {
  // Four ranks own a value more each: T(m) = 6 s + 0.75 s m of an all-reduce, 2 / 3 of a broadcast.
  // d 7-25, c -40, b -52, a -61 s, 0.4 s, then 12 + 10 + 8 + 6 s.
  const std::string curve = R"("cost": {"startup_s": 6, "per_byte_s": 0.75})";
  const Figures figures = figures_of(scenario_of(4, "broadcast_tensors", kWhole, "", curve, ""));
  CHECK(figures.period == within(97.4, 1e-12));
  // A cost of broadcasts counts instead: 1 s + 0.25 s m, which is 5 + 4 + 3 + 2 s; of views alike.
  const std::string both = curve + R"(, "broadcast_cost": {"startup_s": 1, "per_byte_s": 0.25})";
  for (const char* by : {"broadcast_tensors", "broadcast_view"}) {
    CHECK(figures_of(scenario_of(4, by, kWhole, "", both, "")).period == within(75.4, 1e-12));
  }
  const std::string table = curve + R"(, "broadcast_cost": {"table": [[4, 2], [8, 2.5], [16, 5]]})";
  CHECK(figures_of(scenario_of(4, "broadcast_tensors", kWhole, "", table, "")).period ==
        within(61.4 + 5 + 3.75 + 2.5 + 2, 1e-12));
}

TEST_CASE("owners: a ring has chains of all ranks for its broadcasts") {
  // Among two ranks a ring sends n in all and a chain n: d 7-9, c -10.5, b 11-12, a 13-13.5, 0.5 s,
  // then two views of 20 bytes.
  CHECK(figures_of(scenario_of(2, "broadcast_view", kWhole, "",
                               R"("latency_s": 0, "bandwidth_Bps": 8)", "ring")) ==
        Figures{14 + 2 * 2.5, 5.5});
}

TEST_CASE("owners keep whole gradients and the optimizer's state of whole tensors") {
  const auto memory = [](int nodes, const std::string& by, const std::string& sharding = kWhole) {
    return summary_of(
        scenario_of(nodes, by, R"("optimizer_bytes": 8, )" + sharding, R"("optimizer": "sgd", )"));
  };
  const Summary three = memory(3, "broadcast_tensors");
  CHECK(three.memory_parts_optimizer_bytes == 8 * 4.0);
  CHECK(three.memory_parts_gradients_bytes == 4 * 10.0);
  CHECK(three.memory_parts_parameters_bytes == 4 * 10.0);
  CHECK(three.memory_parts_master_bytes == 0); // the owner updates what is computed with
  const Summary half = memory(3, "broadcast_view", kHalf);
  CHECK(half.memory_parts_parameters_bytes == 2 * 10.0);
  CHECK(half.memory_parts_master_bytes == 4 * 4.0);
  CHECK(memory(2, "broadcast_view").memory_parts_optimizer_bytes == 8 * 5.0);
}

TEST_CASE("owners: what is sent, and what the lists have") {
  const Result result = run_text(scenario_of(2, "broadcast_tensors"));
  // The busiest rank sends each value once in an all-reduce of two ranks and once in a broadcast.
  CHECK(result.summary.wire_bytes == 80.0);
  REQUIRE(result.buckets.size() == 4);
  CHECK(result.buckets[0].end_s == 12);
  CHECK(result.buckets[3].end_s == 21);
  CHECK(result.layers[0].gradient_done_s == 21);
  CHECK(result.layers[3].gradient_done_s == 12);
}

TEST_CASE("owners on simulated links: every broadcast leaves its own rank") {
  // Messages of a flow model share nothing here, so that the times are those of alpha and beta.
  const std::string flow = R"("model": "flow", "latency_s": 0.5, "bandwidth_Bps": 8)";
  for (const char* by : {"broadcast_tensors", "broadcast_view"}) {
    for (const int nodes : {2, 3}) {
      CAPTURE(by);
      CAPTURE(nodes);
      const Figures plain = figures_of(scenario_of(nodes, by));
      const Figures links = figures_of(scenario_of(nodes, by, kWhole, "", flow));
      CHECK(links.period == within(plain.period, 1e-9));
    }
  }
}

TEST_CASE("owners: a broadcast from a rank with a slow link takes longer") {
  // All links carry 8 bytes a second, that of rank 2 carries 4. Rank 0 sends to one other rank
  // after the other: 3/8 s per byte, and so does rank 1; rank 2 needs 1/2 s. An all-reduce takes
  // 3/4 s per byte: d 7-19, c -28, b -34, a -37 s; 0.4 s; 16 and 12 bytes by 3/8 and 12 by 1/2.
  const std::string star = R"("model": "flow"}, "topology": {
    "hosts": [{"id": "p"}, {"id": "q"}, {"id": "r"}], "switches": [{"id": "x"}], "links": [
      {"a": "p", "b": "x", "latency_s": 0, "bandwidth_Bps": 8},
      {"a": "q", "b": "x", "latency_s": 0, "bandwidth_Bps": 8},
      {"a": "r", "b": "x", "latency_s": 0, "bandwidth_Bps": 4}])";
  CHECK(figures_of(scenario_of(3, "broadcast_view", kWhole, "", star)).period ==
        within(37.4 + 6 + 4.5 + 6, 1e-9));
}

TEST_CASE("owners: keys that have no meaning with them") {
  const auto problem = [](const std::string& text) { return problem_of(text); };
  CHECK(problem(scenario_of(2, "broadcast_view", R"("gather": "per_layer")"))
            .find("gather has no meaning for gather_by broadcast_view") != std::string::npos);
  CHECK(problem(scenario_of(2, "broadcast_view", R"("parameter_compression": "int8")"))
            .find("parameter_compression has no meaning for gather_by broadcast_view") !=
        std::string::npos);
  const std::string cost = R"("broadcast_cost": {"startup_s": 1, "per_byte_s": 1}, )";
  const std::string line = R"("latency_s": 0.5, "bandwidth_Bps": 8)";
  CHECK(problem(scenario_of(2, "broadcast_view", kWhole, "", cost + line))
            .find("broadcast_cost has no meaning for a network without cost") != std::string::npos);
  CHECK(problem(scenario_of(2, "all_gather", kWhole, "",
                            cost + R"("cost": {"startup_s": 1, "per_byte_s": 1})", ""))
            .find("broadcast_cost has no meaning for gather_by all_gather") != std::string::npos);
  std::string other = scenario_of(2, "broadcast_view");
  other.replace(other.find("zero1"), 5, "zero2");
  CHECK(problem(other).find("gather_by has no meaning for sharding zero2") != std::string::npos);
}

TEST_CASE("owners: broadcasts are drawn, of no bucket") {
  const Result result = run_text(scenario_of(2, "broadcast_view"));
  const events::Timeline drawn = timeline(result, {.nodes = {0}, .first_iteration = 0});
  const auto sent = [&](std::string_view number) {
    return std::ranges::count_if(drawn.spans, [&](const events::Span& span) {
      return span.category == "communication" &&
             std::ranges::any_of(span.numbers, [&](const auto& n) { return n.first == number; });
    });
  };
  const auto iterations = std::ssize(result.iterations);
  CHECK(sent("bucket") == 4 * iterations);
  CHECK(sent("unit") == 6 * iterations); // and two views
}
