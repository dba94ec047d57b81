// What a scenario leaves open: the schedule by default, and the list of defaults of a result.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "buckets/planners.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "study/sweep/grid.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

const std::string kTrace =
    R"({"trace": ")" STEPSIM_SOURCE_DIR R"(/traces/resnet50.ddp.2xa100.json"})";
const std::string kLayers = R"({"layers": [
    {"name": "a", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 40000000},
    {"name": "b", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 1000},
    {"name": "c", "forward_s": 0.01, "backward_s": 0.02, "gradient_bytes": 30000000}]})";
const std::string kModel =
    R"({"model": "resnet50", "batch_size": 8, "device": {"flops_Ps": 2e13}})";

std::string text(const std::string& workload, const std::string& more = "") {
  return R"({"workload": )" + workload +
         R"(, "cluster": {"nodes": 8, "network": {"latency_s": 1e-5, "bandwidth_Bps": 3.125e9}})" +
         more + "}";
}

std::vector<DefaultValue> defaults_of(const io::Json& tree) {
  return defaults_that_decide(tree, parse_scenario(tree, shipped_files()));
}

std::vector<DefaultValue> defaults_of(const std::string& scenario) {
  return defaults_of(io::parse_json(scenario, "test.json"));
}

const DefaultValue* find(const std::vector<DefaultValue>& defaults, std::string_view pointer) {
  const auto found = std::ranges::find(defaults, pointer, &DefaultValue::pointer);
  return found == defaults.end() ? nullptr : &*found;
}

buckets::Schedule schedule_of(const std::string& scenario_text) {
  return scenario(scenario_text).communication.schedule;
}

} // namespace

TEST_CASE("a trace whose buckets hold all its gradients is sent in its measured buckets") {
  const Result result = run_text(text(kTrace));
  const layers::Workload& workload = result.scenario->workload;
  CHECK(result.scenario->communication.schedule == buckets::Schedule::trace);
  REQUIRE(result.buckets.size() == workload.buckets.size());
  for (std::size_t b = 0; b < result.buckets.size(); ++b) {
    CHECK(result.buckets[b].bytes == workload.buckets[b].bytes);
    CHECK(result.buckets[b].items == workload.buckets[b].tensors);
  }
}

TEST_CASE("without measured buckets the schedule is ddp; single where training is not in step") {
  CHECK(schedule_of(text(kLayers)) == buckets::Schedule::ddp);
  CHECK(schedule_of(text(kModel)) == buckets::Schedule::ddp);
  CHECK(schedule_of(text(kTrace, R"(, "training": {"algorithm": "pipe_sgd"})")) ==
        buckets::Schedule::single);
  CHECK(schedule_of(text(kTrace, R"(, "training": {"algorithm": "parameter_server"})")) ==
        buckets::Schedule::single);
}

TEST_CASE("schedule trace is refused where no bucket was measured") {
  CHECK(problem_of(text(kLayers, R"(, "communication": {"schedule": "trace"})")) ==
        "test.json: /communication/schedule: schedule trace needs a trace whose measured buckets "
        "hold all gradients");
}

TEST_CASE("the default schedule gives the time of the same word written out") {
  for (const auto& [workload, word] : {std::pair{kTrace, "trace"}, {kLayers, "ddp"}}) {
    const Result open = run_text(text(workload));
    const Result written = run_text(
        text(workload, R"(, "communication": {"schedule": ")" + std::string(word) + "\"}"));
    CHECK(*open.summary.iteration_time_s == *written.summary.iteration_time_s);
  }
}

TEST_CASE("the line of the terminal names the schedule and free additions") {
  CHECK(defaults_text(defaults_of(text(kTrace))) ==
        "schedule trace (5 measured buckets), reduction_Bps 0");
}

TEST_CASE("a scenario that was written out in full has no default left") {
  const Scenario first = scenario(text(kTrace));
  const io::Json resolved = scenario_tree(first);
  for (const DefaultValue& each : defaults_of(io::parse_json(io::pretty(resolved), "test.json"))) {
    CHECK(each.value.is_null()); // what the resolved scenario cannot say
  }
}

TEST_CASE("a device without utilization reaches what the median GPU reaches") {
  const Result open = run_text(text(kModel));
  const Result given = run_text(text(
      R"({"model": "resnet50", "batch_size": 8, "device": {"flops_Ps": 2e13, "utilization": 1}})"));
  CHECK(*given.summary.compute_s / *open.summary.compute_s == within(0.47, 1e-9));
  const auto defaults = defaults_of(text(kModel));
  const DefaultValue* utilization = find(defaults, "/workload/device/utilization");
  REQUIRE(utilization != nullptr);
  CHECK(utilization->value.as_double() == 0.47);
  CHECK(utilization->reason.starts_with("median of 115 measured GPUs"));
}

TEST_CASE("gradients are what the source of a trace sends as one") {
  const std::string caffe = R"({"trace": ")" STEPSIM_SOURCE_DIR R"(/traces/googlenet.k80.json"})";
  const Scenario layers = scenario(text(caffe));
  CHECK(layers.workload.gradients.size() == layers.workload.layers.size());
  const Scenario tensors =
      scenario(text(R"({"granularity": "tensor", "trace": ")" STEPSIM_SOURCE_DIR
                    R"(/traces/googlenet.k80.json"})"));
  CHECK(tensors.workload.gradients.size() == 2 * tensors.workload.layers.size());
  CHECK(scenario_tree(layers).find("workload")->find("granularity")->as_string() == "layer");
}

TEST_CASE("the layer log of a K80 gives the speed-ups that its authors publish per layer") {
  // T(m) = 2 P alpha + (2 beta + gamma) (P - 1) / P m, one message per layer as soon as it is
  // ready.
  constexpr double kAlpha = 45.25e-6;
  constexpr double kRate = 1006633715.4;
  constexpr double kAdding = 4e8;
  for (const auto& [workers, published] : {std::pair{64, 27.756}, {128, 36.411}}) {
    const double P = workers;
    const Result result =
        run_text(R"({"workload": {"trace": ")" STEPSIM_SOURCE_DIR R"(/traces/googlenet.k80.json"},
            "cluster": {"nodes": )" +
                 std::to_string(workers) +
                 R"(, "network": {"latency_s": 45.25e-6, "bandwidth_Bps": 1006633715.4,
            "reduction_Bps": 4e8}}, "communication": {"collective": "ring", "ring_startup": "2P",
            "reduction_mode": "serial", "schedule": "wfbp"}})");
    const layers::Workload& workload = result.scenario->workload;
    double ready = 0;
    double end = 0;
    for (std::size_t l = workload.layers.size(); l-- > 0;) {
      ready += workload.layers[l].backward.value;
      const auto bytes =
          static_cast<double>(workload.gradients[workload.layers.size() - 1 - l].bytes.value);
      end = std::max(end, ready) + 2 * P * kAlpha + (P - 1) / P * (2 / kRate + 1 / kAdding) * bytes;
    }
    const double forward = workload.forward().value;
    const double speedup = P * (forward + workload.backward().value) / (forward + end);
    CHECK(*result.summary.speedup == within(speedup, 1e-9));
    CHECK(*result.summary.speedup == within(published, 1e-4));
  }
}

TEST_CASE("every key that is left out and that changes the time is listed") {
  struct Change {
    const char* pointer;
    const char* value;
  };
  constexpr Change kChanges[] = {
      {"/cluster/nics_per_node", "2"},
      {"/cluster/network/reduction_Bps", "1e9"},
      {"/cluster/network/efficiency", "0.5"},
      {"/cluster/network/block_latency_s", "1e-6"},
      {"/cluster/network/model", R"("flow")"},
      {"/communication/schedule", R"("single")"},
      {"/communication/collective", R"("be")"},
      {"/communication/chunking", R"("integer")"},
      {"/communication/cost_form", R"("ideal")"},
      {"/communication/exchange", R"("reduce_broadcast")"},
      {"/communication/next_forward", R"("barrier")"},
      {"/communication/overlap_backward", "false"},
      {"/communication/reduction_mode", R"("serial")"},
      {"/communication/ring_startup", R"("2P")"},
      {"/communication/lp_last_hop", "false"},
      {"/communication/block_bytes", "65536"},
      {"/communication/inter_algorithm", R"("be")"},
      {"/communication/intra_algorithm", R"("be")"},
      {"/communication/bucket_bytes", "1000000"},
      {"/communication/ddp_mode", R"("first_iteration")"},
      {"/communication/fusion_bytes", "1000000"},
      {"/communication/cycle_s", "0.01"},
      {"/communication/phase_s", "0.005"},
      {"/communication/blocking", "true"},
      {"/communication/concurrency", "3"},
      {"/communication/contention", "1.5"},
      {"/communication/preset", R"("p3")"},
      {"/communication/partition_bytes", "100000"},
      {"/communication/credit_bytes", "1"},
      {"/communication/prefetch", R"("one")"},
      {"/communication/copy_bandwidth_Bps", "1e9"},
      {"/communication/compression/encode_Bps", "1e9"},
      {"/communication/compression/decode_Bps", "1e9"},
      {"/communication/compression/ratio", "3"},
      {"/communication/compression/select_stream", R"("side")"},
      {"/communication/compression/support_overlap", R"("disjoint")"},
      {"/communication/compression/index_bytes", "8"},
      {"/communication/compression/value_bytes", "2"},
      {"/communication/compression/costs/select_s", "0.01"},
      {"/training/update_s", "0.1"},
      {"/training/input_s", "5"},
      {"/training/sync_s", "0.01"},
      {"/training/wait_s", "0.01"},
      {"/training/host_copy_Bps", "1e9"},
      {"/training/pipeline_width", "1"},
      {"/training/compute_slowdown", "2"},
      {"/training/mode", R"("async")"},
      {"/training/servers", "2"},
      {"/training/placement", R"("sharded")"},
      {"/training/server_split", R"("whole")"},
      {"/training/server_mode", R"("serial")"},
      {"/variability/compute_cv", "0.2"},
      {"/variability/exchange_cv", "0.2"},
      {"/variability/distribution", R"("gamma")"},
      {"/workload/granularity", R"("layer")"},
      {"/workload/backward_factor", "3"},
      {"/workload/layer_overhead_s", "0.001"},
      {"/workload/value_bytes", "2"},
      {"/workload/device/utilization", "0.3"},
  };
  const std::string nodes_of_4 =
      R"({"nodes": 2, "gpus_per_node": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 3.125e9},
          "intra_network": {"latency_s": 2e-6, "bandwidth_Bps": 1e11}})";
  const auto with_cluster = [](const std::string& workload, const std::string& cluster,
                               const std::string& more) {
    return R"({"workload": )" + workload + R"(, "cluster": )" + cluster + more + "}";
  };
  std::vector<std::string> bases = {
      text(kTrace, R"(, "communication": {"schedule": "wfbp"})"),
      text(kModel),
      text(kLayers),
      text(kLayers, R"(, "training": {"algorithm": "pipe_sgd"})"),
      text(kLayers, R"(, "training": {"algorithm": "parameter_server"})"),
      text(kLayers, R"(, "training": {"algorithm": "parameter_server", "mode": "async"})"),
      text(kLayers, R"(, "variability": {"compute_cv": 0.1})"),
      text(kLayers, R"(, "communication": {"collective": "lp"})"),
      text(kLayers, R"(, "communication": {"schedule": "single", "compression": {"method": "topk",
                        "density": 0.01}})"),
      text(kLayers, R"(, "communication": {"compression": {"method": "fp16"}})"),
      with_cluster(kLayers, nodes_of_4, R"(, "communication": {"collective": "hierarchical"})"),
      with_cluster(kLayers, nodes_of_4,
                   R"(, "communication": {"collective": "hierarchical_leader"})"),
  };
  for (const char* schedule : {"wfbp", "ddp", "horovod", "asc_wfbp", "priority", "dear"}) {
    bases.push_back(
        text(kLayers, R"(, "communication": {"schedule": ")" + std::string(schedule) + "\"}"));
  }
  constexpr std::size_t kWorkloads = 2;
  int found = 0;
  for (const std::string& base : bases) {
    const io::Json written = io::parse_json(base, "test.json");
    const double time = *run_text(base).summary.iteration_time_s;
    const std::vector<DefaultValue> defaults = defaults_of(written);
    for (const Change& change : kChanges) {
      const io::Json* given = io::resolve(written, change.pointer);
      const bool of_workload = std::string_view(change.pointer).starts_with("/workload/");
      if (given != nullptr || (&base < &bases[kWorkloads] && !of_workload)) {
        continue; // the first are there for their workloads: many gradients take their time
      }
      io::Json changed = written;
      io::assign(changed, change.pointer, io::parse_json(change.value, "value"));
      double other = time;
      try {
        other = *run(parse_scenario(changed, shipped_files())).summary.iteration_time_s;
      } catch (const std::runtime_error&) {
        continue; // has no meaning here
      }
      if (other == within(time, 1e-9)) {
        continue;
      }
      ++found;
      INFO(base);
      INFO(change.pointer);
      // The short form of the overlap is not named beside it.
      const bool shortly = std::string_view(change.pointer) == "/training/compute_slowdown";
      CHECK((find(defaults, change.pointer) != nullptr ||
             (shortly && find(defaults, "/training/overlap") != nullptr)));
    }
  }
  CHECK(found > 80);
}

TEST_CASE("the exchanges of a trace stand next to simulated ones of as many ranks") {
  const std::string ring = R"(, "communication": {"collective": "ring"})";
  const Scenario on_8 = scenario(text(kTrace, ring));
  const auto all = measured_exchanges(on_8);
  REQUIRE(all.size() == on_8.workload.buckets.size());
  for (std::size_t b = 0; b < all.size(); ++b) {
    // A ring of P = 2: 2 (P - 1) messages of n / P bytes.
    const auto n = static_cast<double>(on_8.workload.buckets[b].bytes.value);
    CHECK(all[b].measured_s == on_8.workload.buckets[b].median->value);
    CHECK(all[b].simulated_s == within(2 * (1e-5 + n / 2 / 3.125e9), 1e-9));
  }
}

// The trace has two ranks: two GPUs of one node, in a domain of one node.
TEST_CASE("the exchanges of a trace leave larger NVLink domains") {
  const auto simulated = [](std::int64_t domain) {
    io::Json tree = io::parse_json(
        R"({"cluster": {"nodes": 2, "gpus_per_node": 8,
                        "network": {"latency_s": 1e-5, "bandwidth_Bps": 5e10},
                        "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1.6e10}}})",
        "s.json");
    io::assign(tree, "/workload", io::parse_json(kTrace, "w.json"));
    io::assign(tree, "/cluster/nvlink_domain_nodes", domain);
    return measured_exchanges(parse_scenario(tree, shipped_files())).front().simulated_s;
  };
  CHECK(simulated(2) == simulated(1));
}

TEST_CASE("a trace whose exchanges took 30 % longer than simulated ones is warned about") {
  const Scenario fast = scenario(text(kTrace));
  auto all = measured_exchanges(fast);
  for (MeasuredExchange& each : all) {
    each.simulated_s = each.measured_s / 1.29;
  }
  CHECK_FALSE(far_exchanges(fast, all));
  all.back().simulated_s = all.back().measured_s / 1.31;
  CHECK(far_exchanges(fast, all));
  all.back().simulated_s = all.back().measured_s / 0.69;
  CHECK(far_exchanges(fast, all));
}

TEST_CASE("a workload without measured exchanges has none to compare") {
  CHECK(measured_exchanges(scenario(text(kLayers))).empty());
  const std::string one = R"({"trace": ")" STEPSIM_SOURCE_DIR R"(/traces/resnet50.1gpu.json"})";
  CHECK(measured_exchanges(scenario(text(one))).empty());
}

TEST_CASE("the latency of switches that add in the network is told where it is assumed") {
  const std::string cluster = R"({"nodes": 4, "gpus_per_node": 4,
      "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11},
      "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}})";
  const auto defaults = defaults_of(R"({"workload": )" + kLayers + R"(, "cluster": )" + cluster +
                                    R"(, "communication": {"collective": "collnet"}})");
  const DefaultValue* latency = find(defaults, "/cluster/switch_latency_s");
  REQUIRE(latency != nullptr);
  CHECK(latency->decisive);
  CHECK(latency->value.as_double() == collectives::kSwitchLatency);
}
