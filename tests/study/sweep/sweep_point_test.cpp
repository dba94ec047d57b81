#include "study/sweep/sweep_point.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "document/json_text.hpp"
#include "run/run.hpp"
#include "study/sweep/sweep_helpers.hpp"
#include "study/sweep/sweep_quick.hpp"
#include "testing/paths.hpp"

using namespace stepsim;
using study::Axis;
using test::Random;
using test::real;
using test::whole;

namespace {

// Layers with and without gradients, in a step with or without update, input and barrier. Additions
// are faster than any link: where they are not, the best blocks of lp and trees are found by timing
// them rank by rank, which takes seconds for many layers and ranks.
io::Json random_scenario(Random& random, std::int64_t most_layers = 40) {
  io::Json scenario = test::scenario();
  io::Array layers;
  const std::int64_t count = whole(random, 1, most_layers);
  for (std::int64_t l = 0; l < count; ++l) {
    const bool empty = count > 1 && whole(random, 0, 5) == 0;
    layers.push_back(
        io::Object{{"name", "l" + std::to_string(l)},
                   {"forward_s", real(random, 0, 2e-4)},
                   {"backward_s", whole(random, 0, 9) == 0 ? 0.0 : real(random, 0, 4e-4)},
                   {"gradient_bytes", empty ? std::int64_t{0} : 4 * whole(random, 1, 600'000)}});
  }
  io::assign(scenario, "/workload/layers", std::move(layers));
  const bool has_batch = whole(random, 0, 1) == 0;
  io::assign(scenario, "/workload/batch_size", has_batch ? io::Json(32) : io::Json());
  if (has_batch) {
    io::assign(scenario, "/job",
               io::Object{{"samples", 123'456'789},
                          {"price_per_gpu_hour", 2.5},
                          {"node_mtbf_s", 1e7},
                          {"checkpoint_s", 10},
                          {"restart_s", 60}});
  }
  io::assign(scenario, "/training/update_s", whole(random, 0, 1) == 0 ? 0.0 : 1e-3);
  io::assign(scenario, "/training/input_s", whole(random, 0, 1) == 0 ? 0.0 : 2e-2);
  io::assign(scenario, "/training/input_pipelined", whole(random, 0, 1) == 0);
  io::assign(scenario, "/communication/next_forward",
             whole(random, 0, 1) == 0 ? "per_layer" : "barrier");
  io::assign(scenario, "/cluster/network/reduction_Bps",
             whole(random, 0, 1) == 0 ? 0.0 : real(random, 2e11, 1e13));
  io::assign(scenario, "/cluster/network/efficiency", real(random, 0.5, 1));
  io::assign(scenario, "/communication/overlap_backward", whole(random, 0, 4) > 0);
  if (whole(random, 0, 1) == 0) {
    io::assign(scenario, "/communication/cycle_s", real(random, 0, 1e-3));
    io::assign(scenario, "/communication/blocking", whole(random, 0, 1) == 0);
  }
  io::assign(scenario, "/communication/concurrency",
             std::max<std::int64_t>(1, whole(random, -3, 4)));
  io::assign(scenario, "/communication/contention", real(random, 0, 1));
  io::assign(scenario, "/communication/partition_bytes", whole(random, 1 << 14, 1 << 21));
  if (whole(random, 0, 3) > 0) { // else trees are evaluated rank by rank
    io::assign(scenario, "/method", "closed_form");
  }
  io::assign(scenario, "/limits/simulated_s", whole(random, 0, 3) == 0 ? 1.0 : 1e4);
  if (whole(random, 0, 3) == 0) {
    io::assign(scenario, "/cluster/network/block_latency_s", 2e-5); // above some latencies
  }
  if (whole(random, 0, 4) == 0) {
    io::assign(scenario, "/cluster/network/calibration", "25g-tcp");
  }
  return scenario;
}

std::vector<Axis> random_axes(Random& random) {
  Axis nodes{"/cluster/nodes", {io::Json(1), io::Json(0), io::Json(2.0)}};
  Axis latency{"/cluster/network/latency_s", {io::Json(0), io::Json(-1)}};
  Axis bandwidth{"/cluster/network/bandwidth_Bps", {io::Json("fast")}};
  for (int i = 0; i < 4; ++i) {
    nodes.values.emplace_back(i < 2 ? std::int64_t{1} << whole(random, 1, 9)
                                    : whole(random, 2, 600));
    latency.values.emplace_back(std::pow(10, real(random, -7, -3)));
    bandwidth.values.emplace_back(std::pow(10, real(random, 7.5, 11)));
  }
  Axis schedule{"/communication/schedule", {}};
  for (const char* word :
       {"wfbp", "single", "ddp", "fixed_count", "mg_wfbp", "mg_wfbp_small_tensors", "optimal",
        "horovod", "eager", "asc_wfbp", "priority", "dear"}) {
    if (whole(random, 0, 3) == 0 || word == std::string_view("wfbp")) {
      schedule.values.emplace_back(word);
    }
  }
  Axis collective{"/communication/collective", {}};
  for (const char* word :
       {"ring", "recursive_doubling", "mst", "be", "lp", "double_binary_tree", "auto"}) {
    if (word == std::string_view("ring") || whole(random, 0, 3) == 0) {
      collective.values.emplace_back(word);
    }
  }
  std::vector<Axis> axes{nodes, latency, bandwidth, schedule, collective};
  std::shuffle(axes.begin(), axes.end(), random);
  return axes;
}

// The record of a point as `run` answers it, with all its lists.
study::PointOutcome outcome_of_run(const study::Sweep& sweep, std::int64_t point,
                                   study::Files& files) {
  const study::Scenario scenario = study::parse_scenario(scenario_at(sweep.base, sweep.grid, point),
                                                         files, study::Leftovers::ignore);
  study::Result result =
      study::run(replicated(scenario, point % sweep.grid.replications), study::Detail::summary);
  study::PointOutcome outcome;
  outcome.summary = std::move(result.summary);
  outcome.method = std::move(result.method);
  return outcome;
}

// Runs the points by all ways and by the long way alone, and returns how many of them succeeded.
std::int64_t compare_ways(const study::Sweep& sweep, study::PointRunner& short_way,
                          study::Files& files, Random& random) {
  const std::int64_t points = sweep.grid.points();
  std::int64_t ok = 0;
  study::PointRunner long_way(sweep, files);
  long_way.use_long_way();
  const study::Records records(sweep, study::RecordFormat::jsonl);
  study::NumberTexts numbers;
  for (std::int64_t point = 0, kept = 0; point < points; ++point) {
    if (point == kept) { // texts are kept for any number of points
      kept += whole(random, 1, 100);
      numbers = {};
    }
    const study::PointOutcome& fast = short_way.run(point);
    const study::PointOutcome& slow = long_way.run(point);
    study::NumberTexts fresh;
    std::string a;
    std::string b;
    records.append(a, point, fast, numbers);
    records.append(b, point, slow, fresh);
    ok += slow.error.empty() ? 1 : 0;
    if (slow.error.empty() && point % 7 == 0) {
      std::string whole_run;
      records.append(whole_run, point, outcome_of_run(sweep, point, files), fresh);
      CHECK(test::same_record(whole_run, b));
    }
    if (!test::same_record(a, b)) {
      CAPTURE(io::compact(scenario_at(sweep.base, sweep.grid, point)));
      CAPTURE(a);
      CAPTURE(b);
      REQUIRE(test::same_record(a, b));
    }
  }
  CHECK(short_way.warnings() == long_way.warnings());
  CHECK(long_way.quick_points() == 0);
  CHECK(long_way.shared_points() == 0);
  return ok;
}

} // namespace

TEST_CASE("sweep: one worker is one on every network") {
  io::Json scenario = test::scenario();
  io::assign(scenario, "/cluster/nodes", 1);
  const study::Sweep sweep = study::sweep_over(
      scenario, {Axis{"/cluster/network/bandwidth_Bps", {io::Json(1e9), io::Json(2e9)}}});
  study::Files files(STEPSIM_SOURCE_DIR);
  study::PointRunner short_way(sweep, files);
  Random random(1);
  CHECK(compare_ways(sweep, short_way, files, random) == 2);
  CHECK(short_way.quick_points() == 2);
}

TEST_CASE("sweep: the short way gives every record of the long way") {
  const unsigned seed = 1;
  CAPTURE(seed);
  Random random(seed);
  std::int64_t ok = 0;
  std::int64_t quick = 0;
  for (int trial = 0; trial < 12; ++trial) {
    const study::Sweep sweep = study::sweep_over(random_scenario(random), random_axes(random));
    study::Files files(STEPSIM_SOURCE_DIR);
    study::PointRunner short_way(sweep, files);
    ok += compare_ways(sweep, short_way, files, random);
    quick += short_way.quick_points();
  }
  MESSAGE(quick << " of " << ok << " records by the short way");
  CHECK(quick > ok / 4);
}

namespace {

// One of `values`, or the key left out.
template <class Value>
void assign_any(Random& random, io::Json& tree, const char* pointer,
                std::initializer_list<Value> values) {
  const auto size = static_cast<std::int64_t>(values.size());
  const std::int64_t which = whole(random, 0, size);
  if (which < size) {
    io::assign(tree, pointer, io::Json(*(values.begin() + which)));
  }
}

Axis random_words(Random& random, const char* pointer, std::initializer_list<const char*> words) {
  Axis axis{pointer, {}};
  for (const char* word : words) {
    if (whole(random, 0, 3) == 0 || (axis.values.empty() && word == *(words.end() - 1))) {
      axis.values.emplace_back(word);
    }
  }
  return axis;
}

} // namespace

TEST_CASE("sweep: points that share a workload have every record of the long way") {
  const unsigned seed = 3;
  CAPTURE(seed);
  Random random(seed);
  std::int64_t ok = 0;
  std::int64_t shared = 0;
  for (int trial = 0; trial < 30; ++trial) {
    CAPTURE(trial);
    io::Json scenario = random_scenario(random);
    if (whole(random, 0, 3) == 0) { // additions slower than some links
      scenario = random_scenario(random, 4);
      io::assign(scenario, "/cluster/network/reduction_Bps", real(random, 1e9, 1e11));
    }
    assign_any(random, scenario, "/method", {"closed_form", "closed_form", "max_plus", "events"});
    assign_any(random, scenario, "/communication/chunking", {"real", "real", "integer"});
    assign_any(random, scenario, "/communication/copy_bandwidth_Bps", {0.0, 0.0, 1e10});
    assign_any(random, scenario, "/communication/exchange", {"allreduce", "reduce_broadcast"});
    assign_any(random, scenario, "/training/sync_s", {0.0, 0.0, 1e-4});
    assign_any(random, scenario, "/training/host_copy_Bps", {0.0, 1e10});
    assign_any(random, scenario, "/training/iterations", {1, 3, 12});
    if (whole(random, 0, 3) == 0) {
      io::assign(scenario, "/variability/compute_cv", 0.1);
      assign_any(random, scenario, "/variability/exchange_cv", {0.0, 0.2});
    }
    if (whole(random, 0, 2) == 0) {
      io::assign(scenario, "/cluster/gpus_per_node", whole(random, 2, 8));
      assign_any(random, scenario, "/cluster/nics_per_node", {1, 2, 8});
      io::assign(scenario, "/cluster/intra_network",
                 io::Object{{"latency_s", 1e-6}, {"bandwidth_Bps", 1e11}});
    }
    std::vector<Axis> axes{
        {"/cluster/nodes", {io::Json(1), io::Json(2), io::Json(whole(random, 3, 6)), io::Json(0)}},
        {"/cluster/network/latency_s", {io::Json(1e-6), io::Json(real(random, 1e-6, 1e-3))}},
        {"/cluster/network/bandwidth_Bps", {io::Json(1e9), io::Json(real(random, 1e8, 1e11))}},
        random_words(random, "/communication/schedule",
                     {"wfbp", "single", "ddp", "fixed_count", "mg_wfbp", "mg_wfbp_small_tensors",
                      "optimal", "eager", "asc_wfbp", "priority", "dear", "horovod"}),
        random_words(random, "/communication/collective",
                     {"ring", "recursive_doubling", "mst", "bruck", "hierarchical", "two_level",
                      "hierarchical_leader", "ring_rails", "swing", "parameter_server",
                      "double_binary_tree", "lp", "auto"})};
    std::shuffle(axes.begin(), axes.end(), random);
    study::Sweep sweep = study::sweep_over(scenario, axes);
    sweep.grid.replications = whole(random, 1, 2);
    study::Files files(STEPSIM_SOURCE_DIR);
    study::PointRunner short_way(sweep, files);
    ok += compare_ways(sweep, short_way, files, random);
    shared += short_way.shared_points();
  }
  MESSAGE(shared << " of " << ok << " records with a shared workload");
  CHECK(shared > ok / 10); // others take the quick way, or none
}

TEST_CASE("sweep: points that share a scenario have every record of the long way") {
  const unsigned seed = 4;
  CAPTURE(seed);
  Random random(seed);
  std::int64_t ok = 0;
  std::int64_t shared = 0;
  for (int trial = 0; trial < 40; ++trial) {
    CAPTURE(trial);
    io::Json scenario = random_scenario(random, 8);
    io::assign(scenario, "/method", "closed_form");
    io::assign(scenario, "/limits", io::Object{});
    io::assign(scenario, "/cluster/network/block_latency_s", io::Json());
    assign_any(random, scenario, "/training/compute_slowdown", {1.0, 1.0, 1.3});
    assign_any(random, scenario, "/training/micro_batches", {1, 2, 3});
    assign_any(random, scenario, "/training/accumulation_exchange", {"each", "last"});
    assign_any(random, scenario, "/training/iterations", {4, 5});
    assign_any(random, scenario, "/training/overlap_steps", {0, 1});
    assign_any(random, scenario, "/training/pipeline_width", {2, 3});
    assign_any(random, scenario, "/training/servers", {1, 2});
    assign_any(random, scenario, "/training/placement", {"dedicated", "sharded", "colocated"});
    assign_any(random, scenario, "/training/mode", {"sync", "sync", "async"});
    io::assign(scenario, "/training/local_steps", whole(random, 2, 3));
    if (whole(random, 0, 3) == 0) {
      io::assign(scenario, "/training/outer_network", io::Object{{"latency_s", 1e-4}});
    }
    if (whole(random, 0, 3) == 0) {
      io::assign(scenario, "/variability/stragglers",
                 io::Array{io::Object{{"worker", whole(random, 0, 9)}, {"factor", 1.5}}});
      assign_any(random, scenario, "/variability/compute_cv", {0.0, 0.1});
    }
    io::assign(scenario, "/cluster/gpus_per_node", whole(random, 1, 4));
    io::assign(scenario, "/cluster/intra_network",
               io::Object{{"latency_s", 1e-6}, {"bandwidth_Bps", 1e11}});
    std::vector<Axis> axes{
        {"/cluster/nodes", {io::Json(2), io::Json(4), io::Json(whole(random, 1, 6))}},
        {"/cluster/network/latency_s", {io::Json(1e-6), io::Json(real(random, 1e-6, 1e-3))}},
        {"/cluster/network/bandwidth_Bps",
         {io::Json(1e9), io::Json(1e11), io::Json(real(random, 1e8, 1e11))}},
        random_words(random, "/training/algorithm",
                     {"pipe_sgd", "od_sgd", "local_sgd", "diloco", "parameter_server", "sync_sgd"}),
        random_words(random, "/training/sharding",
                     {"zero1", "zero2", "full_shard", "shard_grad_op", "hybrid_shard", "none"}),
        random_words(random, "/communication/schedule",
                     {"wfbp", "single", "optimal", "dear", "priority", "ddp"}),
        random_words(random, "/communication/compression",
                     {"fp16", "quantize8", "truncate16", "none"}),
        random_words(random, "/communication/collective",
                     {"recursive_doubling", "two_level", "ring"})};
    std::shuffle(axes.begin(), axes.end(), random);
    const study::Sweep sweep = study::sweep_over(scenario, axes);
    study::Files files(STEPSIM_SOURCE_DIR);
    study::PointRunner short_way(sweep, files);
    ok += compare_ways(sweep, short_way, files, random);
    shared += short_way.shared_points();
  }
  MESSAGE(shared << " of " << ok << " records with a shared scenario");
  CHECK(shared > ok / 2);
}

TEST_CASE("sweep: sharded servers are as many as the workers of each point") {
  const io::Json tree = io::parse_json(R"({"workload": {"layers": [{"name": "a", "forward_s": 1e-5,
      "backward_s": 1e-5, "gradient_bytes": 14088}]}, "cluster": {"nodes": 2, "network": {
      "latency_s": 4e-6, "bandwidth_Bps": 5e9}}, "training": {"algorithm": "parameter_server",
      "iterations": 1, "mode": "ssp", "staleness_bound": null, "placement": "sharded"}})",
                                       "s.json");
  const study::Sweep sweep = study::sweep_over(tree, {Axis{"/cluster/nodes", {2, 4}}});
  study::Files files(STEPSIM_SOURCE_DIR);
  study::PointRunner short_way(sweep, files);
  study::PointRunner long_way(sweep, files);
  long_way.use_long_way();
  for (const std::int64_t point : {0, 1}) {
    CHECK(short_way.run(point).summary.iteration_time_s ==
          long_way.run(point).summary.iteration_time_s);
  }
}

TEST_CASE("sweep: the short way gives the interval of times that are estimated for a GPU") {
  io::Json tree = test::scenario();
  io::assign(tree, "/workload", io::Object{{"model", "gpt2"}, {"gpu", "h100"}, {"batch_size", 1}});
  const study::Sweep sweep =
      study::sweep_over(tree, {Axis{"/cluster/nodes", {io::Json(2), io::Json(4)}}});
  study::Files files(STEPSIM_SOURCE_DIR);
  study::PointRunner short_way(sweep, files);
  study::PointRunner long_way(sweep, files);
  long_way.use_long_way();
  for (const std::int64_t point : {0, 1}) {
    const study::Summary& fast = short_way.run(point).summary;
    const study::Summary& slow = long_way.run(point).summary;
    REQUIRE(slow.compute_low_s);
    CHECK(fast.compute_low_s == slow.compute_low_s);
    CHECK(fast.compute_high_s == slow.compute_high_s);
  }
  CHECK(short_way.quick_points() == 2);
}

TEST_CASE("sweep: the short way is taken where it can be, and only there") {
  study::Files files(STEPSIM_SOURCE_DIR);
  const auto made = [&](const char* pointer, io::Json value) {
    io::Json tree = test::scenario();
    io::assign(tree, pointer, std::move(value));
    return study::QuickRun::make(parse_scenario(tree, files), true) != nullptr;
  };
  for (const char* schedule :
       {"wfbp", "single", "ddp", "fixed_count", "mg_wfbp", "mg_wfbp_small_tensors", "optimal",
        "eager", "horovod", "asc_wfbp", "priority"}) {
    CAPTURE(schedule);
    CHECK(made("/communication/schedule", schedule));
  }
  CHECK(!made("/communication/schedule", "dear"));
  CHECK(made("/communication/collective", "be"));
  CHECK(made("/communication/collective", "lp"));
  CHECK(made("/communication/collective", "auto"));
  CHECK(!made("/communication/collective", "double_binary_tree")); // an upper bound
  CHECK(!made("/communication/copy_bandwidth_Bps", 1e9));
  CHECK(!made("/communication/concurrency", 2));
  CHECK(!made("/communication/chunking", "integer"));
  CHECK(!made("/method", "max_plus"));
  CHECK(made("/method", "closed_form"));
  CHECK(made("/communication/compression", "none"));
  CHECK(!made("/communication/compression", "fp16"));
  CHECK(!made("/communication/compression",
              io::Object{{"method", "topk"}, {"density", 0.001}, {"costs", io::Object{}}}));
  CHECK(!made("/training/algorithm", "pipe_sgd"));
  CHECK(!made("/training/algorithm", "parameter_server"));
  CHECK(!made("/training/sync_s", 1e-3));
  CHECK(!made("/training/host_copy_Bps", 1e9));
  CHECK(!made("/training/exchange_s", 1e-3));
  CHECK(!made("/variability/compute_cv", 0.1));
  CHECK(!made("/variability/stragglers", io::Array{io::Object{{"worker", 0}, {"factor", 2}}}));
}

// The first point is of one worker, which has no exchange that would tell what the others have.
TEST_CASE("sweep: a point of one worker in front changes no other, nor does a recorded schedule") {
  for (const char* text :
       {R"({"cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}}})",
        R"({"cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
            "training": {"sync_s": 1e-3}})",
        R"({"cluster": {"nodes": 2, "preset": "mi300x", "gpus_per_node": 1,
                        "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
            "communication": {"collective": "library"}})",
        R"({"cluster": {"nodes": 2, "preset": "gb200_nvl72",
                        "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
            "communication": {"collective": "ring"}})"}) {
    CAPTURE(text);
    io::Json base = io::parse_json(text, "s.json");
    io::assign(base, "/workload", io::Object{{"trace", "traces/resnet50.ddp.2xa100.json"}});
    const bool plain = base.find("training") == nullptr && base.find("communication") == nullptr;
    const study::Sweep sweep = study::sweep_over(
        base, {Axis{"/cluster/nodes", {io::Json(1), io::Json(2), io::Json(8)}},
               Axis{"/communication/schedule", {io::Json("trace"), io::Json("wfbp")}}});
    study::Files files(STEPSIM_SOURCE_DIR);
    study::PointRunner short_way(sweep, files);
    study::PointRunner long_way(sweep, files);
    long_way.use_long_way();
    for (std::int64_t point = 0; point < sweep.grid.points(); ++point) {
      CAPTURE(point);
      const study::PointOutcome& slow = long_way.run(point);
      CHECK(slow.error.empty());
      CHECK(*short_way.run(point).summary.iteration_time_s ==
            testing::within(*slow.summary.iteration_time_s, 1e-12));
    }
    CHECK((short_way.quick_points() > 0) == plain);
  }
}
