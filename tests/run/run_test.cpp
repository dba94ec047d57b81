#include "run/result_file.hpp"
#include "run/run.hpp"

#include <doctest/doctest.h>

#include <string>

#include "base/random.hpp"
#include "document/json_text.hpp"
#include "document/temporary_folder.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

std::string number(double value) { return io::compact(io::Json(value)); }

// MER 14, case B4: backward 2, 3, 1, 4, 2 ms and sizes in backward order, forward 5 ms in all.
std::string b4(const std::string& communication, const std::string& cost) {
  return R"({"workload": {"layers": [
    {"name": "l1", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 40000},
    {"name": "l2", "forward_s": 0.001, "backward_s": 0.004, "gradient_bytes": 1000000},
    {"name": "l3", "forward_s": 0.001, "backward_s": 0.001, "gradient_bytes": 200000},
    {"name": "l4", "forward_s": 0.001, "backward_s": 0.003, "gradient_bytes": 100000},
    {"name": "l5", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000}]},
    "cluster": {"nodes": 8, "network": {"cost": )" +
         cost + R"(}}, "communication": )" + communication + "}";
}

constexpr const char* kLinear = R"({"startup_s": 0.001, "per_byte_s": 1e-9})";

} // namespace

TEST_CASE("iteration time = forward + finish of the merge problem (MER B4)") {
  const Result greedy = run_text(b4(R"({"schedule": "mg_wfbp"})", kLinear));
  CHECK(*greedy.summary.iteration_time_s == within(0.005 + 0.01304, 1e-12));
  CHECK(*greedy.summary.merge_waiting_merges == 0);
  CHECK(*greedy.summary.merge_certified_optimal);
  CHECK(greedy.buckets.size() == 4);
  CHECK(greedy.buckets[1].first == 2);
  CHECK(greedy.buckets[1].last == 3);
  const Result single = run_text(b4(R"({"schedule": "single"})", kLinear));
  CHECK(*single.summary.iteration_time_s == within(0.005 + 0.01834, 1e-12));
  CHECK(*single.summary.merge_gap_to_optimal == within(0.02334 / 0.01804 - 1, 1e-9));
}

TEST_CASE("horovod sends at the ticks of its cycle (MER E)") {
  const Result result = run_text(
      b4(R"({"schedule": "horovod", "cycle_s": 0.005, "fusion_bytes": 67108864})", kLinear));
  REQUIRE(result.buckets.size() == 3);
  CHECK(result.buckets[0].start_s == within(0.005 + 0.005, 1e-12));
  CHECK(result.buckets[1].start_s == within(0.005 + 0.0101, 1e-12));
  CHECK(result.buckets[2].start_s == within(0.005 + 0.015, 1e-12));
  CHECK(*result.summary.iteration_time_s == within(0.005 + 0.01604, 1e-12));
}

TEST_CASE("the three evaluators give one iteration time on an uncontended network") {
  base::RandomStream random({.seed = 11});
  for (const char* collective :
       {"ring", "be", "bruck", "recursive_doubling", "mst", "lp", "double_binary_tree", "auto"}) {
    for (const int nodes : {1, 2, 3, 5, 8, 13, 16}) {
      std::string layers;
      for (int l = 0; l < 5; ++l) {
        layers += std::string(l > 0 ? "," : "") + R"({"name": "l", "forward_s": )" +
                  number(random.uniform(0, 0.01)) + R"(, "backward_s": )" +
                  number(random.uniform(0, 0.02)) + R"(, "gradient_bytes": )" +
                  std::to_string(random.integer(0, 3'000'000)) + "}";
      }
      const auto text = [&](const std::string& method) {
        return R"({"method": ")" + method + R"(", "workload": {"layers": [)" + layers +
               R"(]}, "cluster": {"nodes": )" + std::to_string(nodes) +
               R"(, "network": {"latency_s": 2e-5, "bandwidth_Bps": 1.25e9, "reduction_Bps": 2e10}},
               "communication": {"schedule": "mg_wfbp", "reduction_mode": "serial", "collective": ")" +
               collective + R"("}})";
      };
      CAPTURE(text("auto"));
      const double events = *run_text(text("events")).summary.iteration_time_s;
      CHECK(*run_text(text("max_plus")).summary.iteration_time_s == within(events, 1e-9));
      const Result automatic = run_text(text("auto"));
      CHECK(*automatic.summary.iteration_time_s == within(events, 1e-9));
      CHECK(automatic.method != "events");
    }
  }
}

TEST_CASE("the parts of an iteration add up and no result lies below its lower bound") {
  base::RandomStream random({.seed = 12});
  for (int trial = 0; trial < 300; ++trial) {
    std::string layers;
    const auto count = random.integer(1, 12);
    for (int l = 0; l < count; ++l) {
      layers += std::string(l > 0 ? "," : "") + R"({"name": "l", "forward_s": )" +
                number(random.uniform(0, 0.01)) + R"(, "backward_s": )" +
                number(random.uniform(0, 0.02)) + R"(, "gradient_bytes": )" +
                std::to_string(random.integer(0, 1) * random.integer(0, 9'000'000)) + "}";
    }
    const char* schedules[] = {"wfbp", "single", "ddp", "horovod", "mg_wfbp", "optimal", "eager"};
    const std::string schedule = schedules[random.integer(0, 6)];
    const std::string text =
        R"({"workload": {"layers": [)" + layers + R"(]}, "training": {"update_s": 0.001},
        "cluster": {"nodes": )" +
        std::to_string(random.integer(1, 64)) +
        R"(, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1e9}}, "communication": {"schedule": ")" +
        schedule + R"("}})";
    CAPTURE(text);
    const Result result = run_text(text);
    const Summary& summary = result.summary;
    CHECK(*summary.iteration_time_s ==
          within(*summary.compute_s + *summary.exposed_communication_s, 1e-12));
    if (summary.lower_bound_s) {
      CHECK(*summary.iteration_time_s >= *summary.lower_bound_s * (1 - 1e-9));
    }
    CHECK(*summary.iteration_time_s >= *summary.merge_optimal_iteration_time_s * (1 - 1e-9));
    CHECK(*summary.overlap_fraction >= 0);
    CHECK(*summary.scaling_efficiency <= 1 + 1e-12);
    for (const Iteration& iteration : result.iterations) {
      CHECK(iteration.iteration_time_s == within(*summary.iteration_time_s, 1e-12));
    }
  }
}

TEST_CASE("one node and no bytes leave the compute time alone") {
  const char* text = R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
    "gradient_bytes": 100}]}, "cluster": {"nodes": 1, "network": {"latency_s": 1, "bandwidth_Bps": 1000}}})";
  const Result one = run_text(text);
  CHECK(*one.summary.iteration_time_s == 3);
  CHECK(*one.summary.scaling_efficiency == 1);
  CHECK(one.warnings.back() == "one worker: no communication");
  const Result empty = run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 1,
    "backward_s": 2, "gradient_bytes": 0}]}, "cluster": {"nodes": 8, "network":
    {"latency_s": 1, "bandwidth_Bps": 1000}}})");
  CHECK(*empty.summary.iteration_time_s == 3);
  CHECK(empty.buckets.empty());
}

TEST_CASE("a fused buffer pays its copies, a single tensor does not") {
  const std::string cost = kLinear;
  const Result plain = run_text(b4(R"({"schedule": "single"})", cost));
  const Result copied = run_text(b4(R"({"schedule": "single", "copy_bandwidth_Bps": 1e9})", cost));
  const double bytes = 40000 + 1000000 + 200000 + 100000 + 4000000;
  CHECK(*copied.summary.iteration_time_s - *plain.summary.iteration_time_s ==
        within(4 * bytes / 1e9, 1e-9));
  const Result wfbp = run_text(b4(R"({"schedule": "wfbp", "copy_bandwidth_Bps": 1e9})", cost));
  CHECK(*wfbp.summary.iteration_time_s ==
        *run_text(b4(R"({"schedule": "wfbp"})", cost)).summary.iteration_time_s);
}

TEST_CASE("of buckets with as many bytes only that of several tensors is copied") {
  const Result result = run_text(R"({"workload": {"layers": [
    {"name": "a", "forward_s": 1, "backward_s": 1, "gradient_bytes": 100},
    {"name": "b", "forward_s": 1, "backward_s": 1, "gradient_bytes": 50},
    {"name": "c", "forward_s": 1, "backward_s": 1, "gradient_bytes": 50},
    {"name": "d", "forward_s": 1, "backward_s": 1, "gradient_bytes": 100}]},
    "cluster": {"nodes": 4, "network": {"cost": {"startup_s": 1, "per_byte_s": 0.01}}},
    "communication": {"schedule": "ddp", "bucket_bytes": 100, "first_bucket_bytes": 100,
                      "copy_bandwidth_Bps": 800}})");
  REQUIRE(result.buckets.size() == 3);
  for (std::size_t k = 0; k < 3; ++k) {
    const Bucket& bucket = result.buckets[k];
    CHECK(bucket.bytes.value == 100);
    CHECK(bucket.end_s - bucket.start_s == within(k == 1 ? 2.5 : 2, 1e-12));
  }
}

TEST_CASE("a run longer than the limit of simulated time is refused, not cut") {
  CHECK_THROWS_AS(run_text(R"({"limits": {"simulated_s": 1}, "workload": {"layers": [{"name": "a",
    "forward_s": 1, "backward_s": 2, "gradient_bytes": 0}]}, "cluster": {"nodes": 2, "network":
    {"latency_s": 1, "bandwidth_Bps": 1000}}})"),
                  SimulationError);
}

TEST_CASE("a run outside the range of its calibration says by how much") {
  const io::TemporaryFolder folder;
  const std::string file = folder.put(
      "lab.calibration.json", R"({"schema_version": 1, "kind": "network_calibration", "name": "lab",
    "label": "calibrated", "valid": {"ranks": [2, 4], "bytes": [1000, 1000000]},
    "network": {"model": "alpha_beta", "latency_s": 1e-5, "bandwidth_Bps": 1e9}})");
  const auto factor = [&](int nodes, int bytes) {
    const Result result =
        run_text(R"({"workload": {"layers": [{"name": "a", "forward_s": 1,
      "backward_s": 2, "gradient_bytes": )" +
                 std::to_string(bytes) + R"(}]}, "cluster": {"nodes": )" + std::to_string(nodes) +
                 R"(, "network": {"calibration": ")" + file + R"("}}})");
    CHECK(result.warnings.empty() == (*result.extrapolation_factor == 1));
    return *result.extrapolation_factor;
  };
  CHECK(factor(4, 500'000) == 1);
  CHECK(factor(8, 500'000) == 8.0 / 4);
  CHECK(factor(2, 5'000'000) == 5e6 / 1e6);
  CHECK(factor(2, 100) == 1000.0 / 100);
}

TEST_CASE("two equal runs give the same text") {
  const std::string text = b4(R"({"schedule": "optimal"})", kLinear);
  CHECK(io::pretty(result_tree(run_text(text))) == io::pretty(result_tree(run_text(text))));
}

TEST_CASE("a result written in parts has the text of its tree, with members that replace others") {
  const Result result = run_text(b4(R"({"schedule": "optimal"})", kLinear));
  io::Json whole = result_tree(result);
  whole.set("meta", 1);
  whole.set("scenario", "replaced");
  std::string text;
  write_result(result, io::Object{{"meta", 1}, {"scenario", "replaced"}},
               [&](std::string_view block) { text += block; });
  CHECK(text == io::pretty(whole));
}

TEST_CASE("the resolved scenario of a result gives the same result again") {
  const Result first = run_text(b4(R"({"schedule": "ddp", "bucket_bytes": 1000000})", kLinear));
  const io::Json tree = scenario_tree(*first.scenario);
  const Result second = run_text(io::pretty(tree));
  CHECK(*second.summary.iteration_time_s == *first.summary.iteration_time_s);
  CHECK(io::compact(scenario_tree(*second.scenario)) == io::compact(tree));
}

TEST_CASE("the resolved scenario shows inline layers as they are: scaled once, with their shapes") {
  const auto same_again = [](const std::string& layers, const std::string& communication) {
    const Result first = run_text(R"({"workload": {)" + layers +
                                  R"(}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-5,
        "bandwidth_Bps": 1.25e9}}, "communication": {)" +
                                  communication + "}}");
    const Result second = run_text(io::pretty(scenario_tree(*first.scenario)));
    CHECK(io::compact(result_tree(second)) == io::compact(result_tree(first)));
  };
  // 0.0015 + 0.00000666 = 0.00150666 s: scaled to 2.73e-6 s, and again by a factor beside 1.
  same_again(R"("layers": [
      {"name": "a", "forward_s": 0.000121, "backward_s": 0.0015, "gradient_bytes": 100560},
      {"name": "b", "forward_s": 0.00389, "backward_s": 6.66e-06, "gradient_bytes": 31336472}],
      "scale_backward_to_s": 2.73e-06)",
             "");
  same_again(R"("layers": [{"name": "a", "forward_s": 0.001, "backward_s": 0.002,
      "gradient_bytes": 4000000, "shape": [1000, 10, 100]}, {"name": "b", "forward_s": 0.001,
      "backward_s": 0.002, "gradient_bytes": 4000, "shape": [1000]}])",
             R"("compression": {"method": "powersgd", "rank": 4})");
}

TEST_CASE("the arithmetic of powersgd takes its time where the GPU is known, and says so") {
  const auto text = [](const std::string& preset, const std::string& costs) {
    return R"({"workload": {"layers": [
        {"name": "a", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 64000000,
         "shape": [4000, 4000]},
        {"name": "b", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 4000,
         "shape": [1000]}]}, "cluster": {"nodes": 2, "gpus_per_node": 1)" +
           preset + R"(, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
        "communication": {"collective": "ring", "schedule": "single",
                          "compression": {"method": "powersgd", )" +
           costs + "}}}";
  };
  const Result known = run_text(text(R"(, "preset": "dgx_h100")", R"("rank": 4)"));
  // n = c = 4000, r = 4, values of 4 bytes at 80 % of 3.35 TB/s: all parts are bound by memory.
  const double rate = 0.8 * 3.35e12;
  const double matrix = 4.0 * 4000 * 4000;
  const double factor = 4.0 * 4 * 4000;
  CHECK(*known.summary.select_s == within((2 * matrix + 6 * factor) / rate, 1e-9));
  CHECK(*known.summary.residual_s == within(5 * matrix / rate, 1e-9));
  CHECK(*known.summary.scatter_s == within((4 * matrix + 2 * factor) / rate, 1e-9));
  const auto reason = [](const Result& result, const std::string& written) {
    std::string found;
    for (const DefaultValue& each :
         defaults_that_decide(io::parse_json(written, "test.json"), *result.scenario)) {
      if (each.pointer == "/communication/compression/costs/select_s_per_element") {
        found = each.reason;
      }
    }
    return found;
  };
  CHECK(reason(known, text(R"(, "preset": "dgx_h100")", R"("rank": 4)")).starts_with("assumed: "));
  // A high rank is bound by its products: 4 r n c + 2 n r^2 FLOP at half of 989 TFLOP/s x 0.803.
  const Result high = run_text(text(R"(, "preset": "dgx_h100")", R"("rank": 2000)"));
  const double flops = 4.0 * 2000 * 4000 * 4000 + 2.0 * 4000 * 2000 * 2000;
  CHECK(*high.summary.select_s == within(flops / (0.5 * 989e12 * 0.803), 1e-9));
  const Result free = run_text(text("", R"("rank": 4)"));
  CHECK(*free.summary.select_s == 0);
  const Result given =
      run_text(text(R"(, "preset": "dgx_h100")", R"("rank": 4, "costs": {"select_s": 0.5})"));
  CHECK(*given.summary.select_s == 0.5);
  CHECK(*given.summary.residual_s == 0);
}

TEST_CASE("a result whose layers are left out of its scenario is written with all of them") {
  const auto written = [](const std::string& layers, const std::string& more) {
    const Result result = run_text(
        R"({"workload": {"layers": [)" + layers +
        R"(]}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}})" +
        more + "}");
    std::string text;
    write_result(result, {{"scenario", scenario_tree(*result.scenario, LayerList::left_out)}},
                 [&](std::string_view block) { text += block; });
    CHECK(text == io::pretty(result_tree(result)));
  };
  const std::string first =
      R"({"name": "a", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 4000000,
          "dtype": "float16", "shape": [1000, 2000]})";
  const std::string empty =
      R"({"name": "b", "forward_s": 0.001, "backward_s": 0.002, "gradient_bytes": 0})";
  std::string many = first;
  for (int layer = 0; layer < 100; ++layer) {
    many += ", " + (layer % 3 == 0 ? empty : first);
  }
  written(first, "");
  written(first + ", " + empty, "");
  written(many, R"(, "variability": {"compute_cv": 0.1})");
}
