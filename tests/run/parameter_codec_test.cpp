// Codecs of gathered parameters (TRN 4.10), and the rows Z7, F17 and S4 (TRN 11.3, 11.4) through
// scenarios.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "document/json_text.hpp"
#include "run/period_figures.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::plus_minus;
using stepsim::testing::within;

namespace {

Figures figures_of(const std::string& text) {
  const Summary summary = run_text(text).summary;
  CHECK(*summary.compute_s + *summary.exposed_communication_s ==
        within(*summary.iteration_time_s, 1e-9));
  return {*summary.iteration_time_s, *summary.exposed_communication_s};
}

std::string scenario_of(const std::string& layers, const std::string& cluster,
                        const std::string& training, const std::string& communication = "") {
  return R"({"workload": {"layers": [)" + layers + R"(]}, "cluster": {)" + cluster +
         R"(}, "limits": {"simulated_s": 10000}, "allow_unusual": true, "training": {)" + training +
         R"(}, "communication": {)" + communication + "}}";
}

const std::string kG3 = R"({"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4},
  {"name": "b", "forward_s": 2, "backward_s": 2, "gradient_bytes": 8},
  {"name": "c", "forward_s": 1, "backward_s": 2, "gradient_bytes": 12},
  {"name": "d", "forward_s": 1, "backward_s": 2, "gradient_bytes": 16})";
const std::string kLine =
    R"("nodes": 4, "network": {"cost": {"startup_s": 0.5, "per_byte_s": 0.25}})";

// One unit of 104 parameters on eight ranks, gathers and reductions of 2 and 2.5 s uncompressed.
std::string one_unit(const std::string& keys) {
  return scenario_of(
      R"({"name": "a", "forward_s": 3, "backward_s": 6, "gradient_bytes": 416})",
      R"("nodes": 8, "network": {"cost": {"startup_s": 0, "per_byte_s": 0.009615384615384616}})",
      R"("update_s": 4, "sharding": {"strategy": "full_shard", "parameter_bytes": 4,
         "reduce_bytes": 5)" +
          keys + "}");
}

} // namespace

TEST_CASE("parameter_compression: one unit of full_shard") {
  const std::string kept = R"(, "keep_last": true)";
  CHECK(figures_of(one_unit(kept)) == Figures{2 + 3 + 6 + 2.5 + 0.5, 4.5});
  // A byte of four, free of charge.
  for (const std::string word : {"int8", "quantize8"}) {
    CHECK(figures_of(one_unit(kept + R"(, "parameter_compression": ")" + word + "\"")) ==
          Figures{0.5 + 3 + 6 + 2.5 + 0.5, 3});
  }
  // 52 bytes of a rank are encoded once, 416 bytes decoded after each gather.
  const std::string codec =
      R"(, "parameter_compression": {"method": "int8", "encode_Bps": 52, "decode_Bps": 416})";
  CHECK(figures_of(one_unit(kept + codec)) == Figures{1 + 0.5 + 1 + 3 + 6 + 2.5 + 0.5, 3});
  CHECK(figures_of(one_unit(R"(, "keep_last": false)" + codec)) ==
        Figures{1 + 0.5 + 1 + 3 + 1 + 6 + 2.5 + 0.5, 3});
  const Summary summary = run_text(one_unit(kept + codec)).summary;
  CHECK(*summary.codec_compute_s == within(2, 1e-12));
  CHECK(*summary.update_s == within(0.5, 1e-12));
}

TEST_CASE("parameter_compression: zero2, decoded before the first forward or layer by layer") {
  const auto zero = [](const std::string& keys) {
    return figures_of(scenario_of(
        kG3, kLine,
        R"("sharding": {"strategy": "zero2", "parameter_bytes": 4, "reduce_bytes": 4)" + keys + "}",
        R"("schedule": "wfbp")"));
  };
  const double all = 4 * 0.25 + 0.125 * 40;     // gathers of 4-byte parameters
  const double quarter = 4 * 0.25 + 0.125 * 10; // of one byte
  CHECK(zero("") == Figures{19.75, 6.75});
  CHECK(zero(R"(, "parameter_compression": "int8")") ==
        Figures{19.75 - all + quarter, 6.75 - all + quarter});
  // A rank encodes 10 bytes, and decodes 40: all but the last 16 while others are gathered.
  const std::string codec =
      R"(, "parameter_compression": {"method": "int8", "encode_Bps": 10, "decode_Bps": 40})";
  CHECK(zero(codec) == Figures{19.75 - all + quarter + 1 + 0.4, 6.75 - all + quarter - 0.6});
  // The first layer is there after 0.375 s; the others arrive while 2.5 s of others are decoded and
  // computed: 0.5, 0.625 and 0.75 s later.
  CHECK(zero(R"(, "gather": "per_layer")" + codec).exposed ==
        plus_minus(6.75 - all + 0.25 + 0.125, 1e-9));
}

TEST_CASE("parameter_compression: optimal units count decoding") {
  const auto period = [](const std::string& wrapping, const std::string& codec) {
    return *run_text(scenario_of(kG3, kLine,
                                 R"("sharding": {"strategy": "full_shard", "parameter_bytes": 4,
                            "reduce_bytes": 4, "wrapping": )" +
                                     wrapping + codec + "}"))
                .summary.iteration_time_s;
  };
  for (const std::string rates : {R"("encode_Bps": 10)", R"("encode_Bps": 10, "decode_Bps": 40)"}) {
    const std::string codec = R"(, "parameter_compression": {"method": "fp4", )" + rates + "}";
    double best = 1e9;
    for (const std::string cuts :
         {"[]", "[1]", "[2]", "[3]", "[1, 2]", "[1, 3]", "[2, 3]", "[1, 2, 3]"}) {
      const std::string wrapping = cuts == "[]" ? std::string(R"({"policy": "all"})")
                                                : R"({"policy": "list", "cuts": )" + cuts + "}";
      best = std::min(best, period(wrapping, codec));
    }
    CHECK(period(R"({"policy": "optimal"})", codec) == within(best, 1e-9));
  }
}

TEST_CASE("parameter_compression: keys, and the resolved scenario") {
  const std::string bad = one_unit(R"(, "parameter_compression": "topk")");
  CHECK(problem_of(bad).find("/training/sharding/parameter_compression") != std::string::npos);
  CHECK(problem_of(scenario_of(kG3, kLine,
                               R"("sharding": {"strategy": "none",
                                  "parameter_compression": "int8"})"))
            .find("parameter_compression has no meaning for sharding none") != std::string::npos);
  const Result first = run_text(one_unit(R"(, "parameter_compression": "fp4")"));
  const Result second = run_text(io::compact(scenario_tree(*first.scenario)));
  CHECK(io::compact(summary_tree(first.summary)) == io::compact(summary_tree(second.summary)));
}

TEST_CASE("accumulation: row S4, an update before the next forward") {
  for (const std::string next : {"per_layer", "barrier"}) {
    CHECK(figures_of(scenario_of(kG3, kLine, R"("update_s": 4)",
                                 R"("schedule": "wfbp", "next_forward": ")" + next + "\"")) ==
          Figures{23, 6});
  }
}

TEST_CASE("zero: row Z7, gathers of no time, is synchronous training with a barrier") {
  // Half of the table is T(m) for reductions of 8-byte values; a gather sends a byte.
  CHECK(figures_of(
            scenario_of(kG3,
                        R"("nodes": 4, "network": {"cost": {"table":
               [[1, 1e-12], [8, 3], [16, 5], [24, 7], [32, 9]]}})",
                        R"("update_s": 8, "sharding": {"strategy": "zero2", "parameter_bytes": 1e-9,
               "reduce_bytes": 8})",
                        R"("schedule": "wfbp")")) == Figures{21, 6});
  CHECK(figures_of(scenario_of(kG3, kLine, R"("update_s": 2)",
                               R"("schedule": "wfbp", "next_forward": "barrier")")) ==
        Figures{21, 6});
}

TEST_CASE("hybrid_shard: row F17") {
  // In a node all-gathers and reduce-scatters of 1, 2, 3 s; both ranks of a node share a card,
  // which sends 200, 400 and 600 bytes between the replicas.
  const auto hybrid = [](const std::string& training) {
    return figures_of(scenario_of(
        R"({"name": "a", "forward_s": 2, "backward_s": 4, "gradient_bytes": 400},
           {"name": "b", "forward_s": 3, "backward_s": 6, "gradient_bytes": 800},
           {"name": "c", "forward_s": 4, "backward_s": 8, "gradient_bytes": 1200})",
        R"("nodes": 2, "gpus_per_node": 2,
           "intra_network": {"latency_s": 0, "bandwidth_Bps": 100},
           "network": {"latency_s": 2, "bandwidth_Bps": 200})",
        training + R"("sharding": {"strategy": "hybrid_shard", "wrapping": {"policy": "layer"},
                      "parameter_bytes": 2, "reduce_bytes": 2, "keep_last": true,
                      "communicators": 2})",
        R"("collective": "ring")"));
  };
  CHECK(hybrid("") == Figures{39, 12});
  CHECK(hybrid(R"("micro_batches": 2, )") == Figures{66, 12});
}
