// One question has one answer: whichever planner, network level, evaluator or number of equal parts
// it is asked with. Rows are computed by hand; nets are random scenarios.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "document/json.hpp"
#include "document/json_text.hpp"
#include "run/planned_messages.hpp"
#include "run/random_scenarios.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

constexpr double kSame = 1e-9;

io::Json json(const std::string& text) { return io::parse_json(text, "test.json"); }

// The text with more keys: `more` is an object of pointers.
std::string with(const std::string& text, const std::string& more) {
  io::Json tree = json(text);
  const io::Json keys = json(more);
  for (const auto& [pointer, value] : keys.as_object()) {
    io::assign(tree, pointer, value);
  }
  return io::compact(tree);
}

// Empty where such a run does not exist.
std::optional<Result> run_or_none(const std::string& text) {
  try {
    return run(scenario(text, Leftovers::ignore));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

// STEPSIM_NET_CASES runs more of them.
int cases() {
  const char* many = std::getenv("STEPSIM_NET_CASES");
  return many != nullptr ? std::stoi(many) : 300;
}

bool estimates(const Result& result) {
  return std::ranges::any_of(result.warnings, [](const std::string& warning) {
    return warning.ends_with("max_plus is exact") || warning.ends_with("events is exact") ||
           warning.starts_with("method ");
  });
}

// Random training with the keys that shares_of, halves and slowdowns come from.
std::string random_case(base::RandomStream& random) {
  static constexpr std::array<const char*, 10> kMore{
      R"({})",
      R"({})",
      R"({"/training/sharding": "zero1"})",
      R"({"/training/sharding": {"strategy": "zero1", "gather_by": "broadcast_tensors"}})",
      R"({"/training/sharding": "zero2", "/training/micro_batches": 2})",
      R"({"/training/micro_batches": 3, "/training/accumulation_exchange": "each"})",
      R"({"/training/micro_batches": 2})",
      R"({"/training/overlap": {"compute": 1.2, "exchange": 1.3}})",
      R"({"/training/algorithm": "od_sgd"})",
      R"({"/training/iterations": 5})"};
  const Workers workers = random.integer(0, 1) == 0 ? Workers::equal : Workers::differ;
  return with(random_scenario(random, workers), pick(random, kMore));
}

const std::string kThree = R"({"workload": {"layers": [
    {"name": "l0", "forward_s": 0.005, "backward_s": 0.005, "gradient_bytes": 4000},
    {"name": "l1", "forward_s": 0.005, "backward_s": 0.02, "gradient_bytes": 4000000},
    {"name": "l2", "forward_s": 0.005, "backward_s": 0.001, "gradient_bytes": 4000}]},
  "cluster": {"nodes": 3, "network": {"latency_s": 0.005, "bandwidth_Bps": 1.25e8}},
  "training": {"iterations": 4, "sharding": "zero1"}, "communication": {"collective": "ring"}})";
const std::string kTwo = R"({"workload": {"layers": [
    {"name": "a", "forward_s": 5e-3, "backward_s": 5e-3, "gradient_bytes": 400000},
    {"name": "b", "forward_s": 5e-3, "backward_s": 5e-3, "gradient_bytes": 400000}]},
  "cluster": {"nodes": 4, "network": {"latency_s": 5e-4, "bandwidth_Bps": 1.25e9}},
  "training": {"iterations": 4, "overlap": {"compute": 1, "exchange": 2}},
  "communication": {"collective": "ring", "schedule": "wfbp"}})";

double period(const std::string& text, const std::string& more) {
  return *run_text(with(text, more)).summary.iteration_time_s;
}

} // namespace

TEST_CASE("same answer: optimal takes the merge that is the fastest in the run") {
  const auto by = [](const std::string& schedule) {
    return run_text(with(kThree, R"({"/communication/schedule": ")" + schedule + "\"}"));
  };
  const Result optimal = by("optimal");
  CHECK(*optimal.summary.iteration_time_s == within(0.093064, kSame));
  CHECK(!*optimal.summary.merge_certified_optimal);
  CHECK(std::ranges::count_if(optimal.warnings, [](const std::string& warning) {
          return warning.starts_with("optimal takes the merge of single");
        }) == 1);
  for (const char* other : {"single", "exhaustive", "wfbp"}) {
    CHECK(*optimal.summary.iteration_time_s <= *by(other).summary.iteration_time_s * (1 + kSame));
  }
  const Result plain = run_text(
      with(kThree, R"({"/communication/schedule": "optimal", "/training/sharding": "none"})"));
  CHECK(*plain.summary.merge_certified_optimal);
}

TEST_CASE("same answer: the greedy merge is certified for the times that are run alone") {
  const std::string text = R"({"workload": {"layers": [
      {"name": "l1", "forward_s": 1, "backward_s": 2, "gradient_bytes": 12000},
      {"name": "l2", "forward_s": 1, "backward_s": 2, "gradient_bytes": 24000},
      {"name": "l3", "forward_s": 1, "backward_s": 1, "gradient_bytes": 24000}]},
    "cluster": {"nodes": 4, "network": {"latency_s": 0.1, "bandwidth_Bps": 1e4}},
    "training": {"iterations": 3}, "communication": {"collective": "ring"}})";
  const std::string slow = R"("/variability": {"stragglers": [{"worker": 0, "factor": 2}]})";
  const std::string slowed = R"("/training/overlap": {"compute": 1.5})";
  for (const std::string& more : {std::string(), slow, slowed}) {
    const auto by = [&](const std::string& schedule) {
      return run_text(with(text, R"({"/communication/schedule": ")" + schedule + "\"" +
                                     (more.empty() ? "" : ", " + more) + "}"))
          .summary;
    };
    const Summary greedy = by("mg_wfbp");
    CHECK(*greedy.merge_certified_optimal == more.empty());
    const bool worse = *greedy.iteration_time_s > *by("wfbp").iteration_time_s * (1 + kSame);
    CHECK(worse == !more.empty());
  }
}

TEST_CASE("same answer: a blocking message starts when the last one has ended") {
  const std::string text = R"({"workload": {"layers": [
      {"name": "a", "forward_s": 1e-2, "backward_s": 1e-3, "gradient_bytes": 4000000},
      {"name": "b", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 40000000}]},
    "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e8}},
    "training": {"sharding": "zero1", "iterations": 4},
    "communication": {"collective": "ring", "schedule": "horovod", "blocking": true,
                      "fusion_bytes": 0}})";
  CHECK(period(text, "{}") == within(0.40812, kSame));
  CHECK(period(text, R"({"/training/sharding": "none", "/variability": {"exchange_cv": 0.5}})") ==
        within(0.396, 1e-3));
}

// Ticks of a millisecond begin again at the end of a message: the reduce-scatter of 4 MB lasts
// 3.3 ms from 1 ms on, an all-reduce would last twice as long.
TEST_CASE("same answer: the ticks of a blocking Horovod follow the reduce-scatters of shards") {
  for (const char* strategy : {"zero1", "zero2"}) {
    const Result result = run_text(R"({"workload": {"layers": [
        {"name": "a", "forward_s": 1e-3, "backward_s": 9.5e-3, "gradient_bytes": 4000000},
        {"name": "b", "forward_s": 0, "backward_s": 1e-3, "gradient_bytes": 4000000}]},
      "cluster": {"nodes": 4, "network": {"latency_s": 0, "bandwidth_Bps": 909090909.0909091}},
      "training": {"sharding": ")" +
                                   std::string(strategy) + R"(", "iterations": 4},
      "communication": {"collective": "ring", "schedule": "horovod", "blocking": true,
                        "fusion_bytes": 0, "cycle_s": 1e-3}})");
    REQUIRE(result.buckets.size() == 2);
    CHECK(result.buckets[0].start_s == within(1e-3 + 1e-3, kSame));
    CHECK(result.buckets[1].start_s == within(1e-3 + 11.3e-3, kSame));
  }
}

TEST_CASE("same answer: priority on a default star is that on the same star as a topology") {
  const std::string text = R"({"workload": {"layers": [
      {"name": "a", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 400000},
      {"name": "b", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000},
      {"name": "c", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 6000000}]},
    "cluster": {"nodes": 4, "network": {"model": "flow", "latency_s": 1e-4,
                "bandwidth_Bps": 1.25e9}},
    "training": {"iterations": 6}, "communication": {"schedule": "priority",
      "collective": "ring", "chunking": "real"}})";
  for (const char* keys :
       {"", R"(, "partition_bytes": 500000)", R"(, "credit_bytes": 1)", R"(, "preset": "p3")",
        R"(, "partition_bytes": 1000000, "credit_bytes": 2500000)"}) {
    CAPTURE(keys);
    const std::string own = text.substr(0, text.rfind("}}")) + keys + "}}";
    const Result star = run_text(own);
    const Result same = run_text(with(own, R"({"/cluster/topology": {"preset": "star",
        "hosts": 4, "bandwidth_Bps": 1.25e9, "latency_s": 5e-5},
        "/cluster/network": {"model": "flow"}})"));
    CHECK(*same.summary.iteration_time_s == within(*star.summary.iteration_time_s, kSame));
    REQUIRE(same.buckets.size() == star.buckets.size());
    for (std::size_t b = 0; b < star.buckets.size(); ++b) {
      CHECK(same.buckets[b].start_s == within(star.buckets[b].start_s, kSame));
      CHECK(same.buckets[b].end_s == within(star.buckets[b].end_s, kSame));
    }
  }
}

// A start-up of 3 ms and data of 0.48 ms, which twice as slow beside computing.
TEST_CASE("same answer: the start-up of flows is not slowed by computing") {
  for (const char* level : {"alpha_beta", "flow"}) {
    CAPTURE(level);
    const Result result =
        run_text(with(kTwo, R"({"/cluster/network/model": ")" + std::string(level) + "\"}"));
    REQUIRE(result.buckets.size() == 2);
    CHECK(result.buckets[0].end_s - result.buckets[0].start_s == within(3.96e-3, kSame));
    CHECK(*result.summary.iteration_time_s == within(23.48e-3, kSame));
  }
  for (const char* strategy : {"zero1", "zero2"}) {
    const std::string more = R"(, "/training/sharding": ")" + std::string(strategy) + "\"}";
    CAPTURE(strategy);
    CHECK(period(kTwo, R"({"/cluster/network/model": "flow")" + more) ==
          within(period(kTwo, R"({"/cluster/network/model": "alpha_beta")" + more), kSame));
  }
  CHECK(period(kTwo, R"({"/cluster/topology": "star_16", "/cluster/network": {"model": "flow"}})") >
        0);
}

TEST_CASE("same answer: a method that estimates says so") {
  const std::string tree = R"({"workload": {"layers": [
      {"name": "l0", "forward_s": 0.01, "backward_s": 0, "gradient_bytes": 4000000},
      {"name": "l1", "forward_s": 0.002, "backward_s": 0, "gradient_bytes": 40000000}]},
    "cluster": {"nodes": 3, "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e10}},
    "training": {"iterations": 8}, "communication": {"schedule": "mg_wfbp",
    "collective": "double_binary_tree"}, "variability": {"compute_cv": 1}})";
  for (const char* training :
       {R"({"iterations": 8})", R"({"micro_batches": 2})", R"({"sharding": "zero1"})",
        R"({"sharding": "full_shard"})", R"({"algorithm": "pipe_sgd"})",
        R"({"overlap": {"compute": 1.1}})"}) {
    CAPTURE(training);
    const bool units = std::string(training).find("full") != std::string::npos; // of no schedule
    const std::string keys = std::string(units ? R"({"/communication": {"collective":
        "double_binary_tree"}, )"
                                               : "{") +
                             R"("/training": )" + training;
    const Result formula = run_text(with(tree, keys + R"(, "/method": "closed_form"})"));
    CHECK(estimates(formula));
    CHECK(formula.method == "closed_form");
    CHECK(!estimates(run_text(with(tree, keys + R"(, "/method": "events"})"))));
    CHECK(!estimates(run_text(with(tree, keys + "}"))));
    const std::string shared = keys + R"(, "/cluster/gpus_per_node": 8, "/cluster/intra_network":
        {"latency_s": 1e-7, "bandwidth_Bps": 1e10}, "/method": "max_plus"})";
    const Result estimate = run_text(with(tree, shared));
    CHECK(estimates(estimate));
    CHECK(estimate.method == "max_plus");
  }
}

TEST_CASE("same answer: max_plus that auto takes says that it estimates") {
  const Result result = run_text(R"({"workload": {"layers": [
      {"name": "a", "forward_s": 0.01, "backward_s": 0.01, "gradient_bytes": 4000001}]},
    "cluster": {"nodes": 3, "gpus_per_node": 4, "nics_per_node": 2,
      "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 1e11},
      "network": {"latency_s": 5e-5, "bandwidth_Bps": 1.25e9}},
    "communication": {"schedule": "single", "collective": "hierarchical",
                      "chunking": "integer"}})");
  CHECK(result.method == "max_plus");
  CHECK(estimates(result));
}

// Four exchanges of 6 ms of start-ups each, under way at once or one after the other.
TEST_CASE("same answer: the credit of a priority schedule counts on every level") {
  const auto by = [](const std::string& communication, const std::string& network) {
    return period(R"({"workload": {"layers": [
        {"name": "a", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 40000},
        {"name": "b", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 40000},
        {"name": "c", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 40000},
        {"name": "d", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 40000}]},
      "cluster": {"nodes": 4, "network": {"latency_s": 1e-3, "bandwidth_Bps": 1.25e10)" +
                      network + R"(}}, "training": {"iterations": 4}, "communication": {
      "collective": "ring", "schedule": "priority")" +
                      communication + "}}",
                  "{}");
  };
  for (const auto& [communication, expected] :
       std::initializer_list<std::pair<std::string, double>>{
           {"", 14.0048e-3},
           {R"(, "preset": "p3")", 27.0192e-3},
           {R"(, "preset": "tictac")", 27.0192e-3},
           {R"(, "preset": "bytescheduler")", 14.0048e-3},
           {R"(, "credit_bytes": 80000)", 17.0096e-3}}) {
    CAPTURE(communication);
    CHECK(by(communication, "") == within(expected, kSame));
    CHECK(by(communication, R"(, "model": "flow")") == within(expected, kSame));
    CHECK(by(communication, R"(, "model": "packet", "packet": {"transport": "dctcp"})") ==
          within(expected, 3e-4));
  }
}

TEST_CASE("same answer: a second micro-batch adds its computing, whichever exchanges were drawn") {
  const std::string text = R"({"workload": {"layers": [
      {"name": "a", "forward_s": 1e-3, "backward_s": 1e-3, "gradient_bytes": 4000000}]},
    "cluster": {"nodes": 2, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9}},
    "training": {"iterations": 6}, "communication": {"collective": "ring", "schedule": "single"},
    "variability": {"exchange_cv": 1}})";
  for (const char* discard : {"0", "1", "3"}) {
    const std::string keys = R"({"/training/discard_iterations": )" + std::string(discard);
    const Summary one = run_text(with(text, keys + "}")).summary;
    const Summary two = run_text(with(text, keys + R"(, "/training/micro_batches": 2})")).summary;
    CHECK(*two.iteration_time_s == within(*one.iteration_time_s + 2e-3, kSame));
    CHECK(*two.communication_s == within(*one.communication_s, kSame));
    CHECK(*two.exposed_communication_s == within(*two.communication_s, kSame));
  }
}

TEST_CASE("same answer: no merge is faster than optimal, and nobody is slower by 1e-10") {
  const int kCases = cases();
  base::RandomStream random(base::RandomKey{.seed = 20261125});
  int compared = 0;
  int slowed = 0;
  for (int i = 0; i < kCases; ++i) {
    const std::string text = random_case(random);
    CAPTURE(text);
    const auto by = [&](const char* schedule) {
      return run_or_none(
          with(text, R"({"/communication/schedule": ")" + std::string(schedule) + "\"}"));
    };
    if (const std::optional<Result> optimal = by("optimal");
        optimal && optimal->summary.merge_certified_optimal) {
      const Scenario& asked = *optimal->scenario;
      const bool servers = // of schedule single they have rounds
          asked.training.algorithm == TrainingAlgorithm::parameter_server;
      const bool promises =
          *optimal->summary.merge_certified_optimal || (searches_merge(asked) && !servers);
      for (const char* schedule : {"single", "wfbp", "mg_wfbp", "eager", "exhaustive", "ddp"}) {
        const std::optional<Result> other = promises ? by(schedule) : std::nullopt;
        CAPTURE(std::string(schedule));
        if (other) {
          ++compared;
          CHECK(*optimal->summary.iteration_time_s <=
                *other->summary.iteration_time_s * (1 + kSame));
        }
      }
    }
    const std::optional<Result> result = run_or_none(text);
    if (!result) {
      continue;
    }
    const bool servers = // have queues
        result->scenario->training.algorithm == TrainingAlgorithm::parameter_server;
    const bool ticks = // a message waits for its cycle, too
        result->scenario->communication.schedule == buckets::Schedule::horovod;
    if (!servers && !ticks && result->scenario->variability.compute_cv == 0 &&
        result->scenario->variability.stragglers.empty()) {
      CHECK(*result->summary.exposed_communication_s <=
            *result->summary.communication_s * (1 + kSame) + 1e-15);
    }
    const bool packets = // of several workers may come at a server in another order
        servers && result->scenario->cluster.network.model == NetworkModel::packet;
    if (!packets && !result->scenario->variability.varies()) {
      const std::optional<Result> other = run_or_none(with(
          text, R"({"/variability": {"stragglers": [{"worker": 0, "factor": 1.0000000001}]}})"));
      if (other) {
        ++slowed;
        CHECK(*other->summary.iteration_time_s == within(*result->summary.iteration_time_s, kSame));
      }
    }
  }
  CHECK(compared > kCases);
  CHECK(slowed > kCases / 10);
}

TEST_CASE(
    "same answer: a method is exact or says that it estimates, and flows without a topology are "
    "links of alpha_beta") {
  base::RandomStream random(base::RandomKey{.seed = 20261126});
  int methods = 0;
  int levels = 0;
  for (int i = 0; i < cases(); ++i) {
    const std::string text =
        with(random_case(random), R"({"/method": "auto", "/communication/chunking": "integer"})");
    const std::optional<Result> result = run_or_none(text);
    if (!result) {
      continue;
    }
    CAPTURE(text);
    const double period = *result->summary.iteration_time_s;
    for (const char* method : {"closed_form", "max_plus", "events"}) {
      CAPTURE(std::string(method));
      const std::optional<Result> other =
          run_or_none(with(text, R"({"/method": ")" + std::string(method) + "\"}"));
      const bool padded = // the parts of a shard, in other sizes than the warnings know
          result->scenario->training.sharding.any();
      if (other && !estimates(*other)) {
        ++methods;
        CHECK(*other->summary.iteration_time_s == within(period, padded ? 1e-6 : kSame));
      }
    }
    const bool
        alike = // servers are shared ports; flows know contention; no merge is searched there
        result->scenario->communication.schedule != buckets::Schedule::asc_wfbp &&
        result->scenario->communication.collective != collectives::AlgorithmId::parameter_server &&
        result->scenario->communication.collective != collectives::AlgorithmId::automatic &&
        !searches_merge(*result->scenario);
    const std::optional<Result> flow =
        run_or_none(with(text, R"({"/cluster/network/model": "flow"})"));
    if (flow && alike && result->scenario->cluster.topology.is_null()) {
      ++levels;
      CHECK(*flow->summary.iteration_time_s == within(period, kSame));
    }
  }
  CHECK(methods > cases() / 2);
  CHECK(levels > cases() / 4);
}

namespace {

// Keys of a schedule, of messages and of overlap, each where it may matter.
std::string random_keys(base::RandomStream& random) {
  static constexpr std::array<const char*, 40> kKeys{
      R"({"schedule": "ddp", "bucket_bytes": 600000, "first_bucket_bytes": 100000})",
      R"({"schedule": "ddp", "bucket_bytes": 600000, "ddp_mode": "first_iteration"})",
      R"({"schedule": "ddp", "bucket_bytes": 600000, "ddp_mode": "unused_parameters"})",
      R"({"schedule": "ddp", "bucket_bytes": 600000, "ddp_mode": "last_small"})",
      R"({"schedule": "horovod", "cycle_s": 0.0005})",
      R"({"schedule": "horovod", "cycle_s": 0.0005, "phase_s": 0.0002})",
      R"({"schedule": "horovod", "fusion_bytes": 0, "blocking": true})",
      R"({"schedule": "horovod", "fusion_bytes": 400000})",
      R"({"schedule": "priority", "preset": "p3"})",
      R"({"schedule": "priority", "preset": "tictac"})",
      R"({"schedule": "priority", "partition_bytes": 300000, "credit_bytes": 500000})",
      R"({"schedule": "priority", "credit_bytes": 200000})",
      R"({"schedule": "dear", "dear_layers": 2})",
      R"({"schedule": "dear", "bucket_bytes": 600000, "prefetch": "one"})",
      R"({"schedule": "single", "overlap_backward": false})",
      R"({"schedule": "wfbp", "overlap_backward": false})",
      R"({"schedule": "wfbp", "next_forward": "barrier"})",
      R"({"schedule": "mg_wfbp", "plan_cost": {"startup_s": 0.001, "per_byte_s": 1e-9}})",
      R"({"schedule": "wfbp", "copy_bandwidth_Bps": 1e9})",
      R"({"schedule": "single", "copy_bandwidth_Bps": 1e9})",
      R"({"schedule": "wfbp", "exchange": "reduce_broadcast"})",
      R"({"collective": "lp", "block_bytes": 65536})",
      R"({"collective": "lp", "lp_last_hop": false})",
      R"({"collective": "ring", "ring_startup": "2P"})",
      R"({"collective": "be", "cost_form": "paper"})",
      R"({"collective": "mst", "cost_form": "ideal"})",
      R"({"collective": "ring", "reduction_mode": "serial"})",
      R"({"collective": "ring", "element_bytes": 4})",
      R"({"collective": "ring", "chunking": "real"})",
      R"({"collective": "recursive_doubling", "chunking": "integer"})",
      R"({"collective": "double_binary_tree"})",
      R"({"compression": "fp16"})",
      R"({"compression": {"method": "custom_codec", "ratio": 3, "encode_Bps": 1e9, "decode_Bps": 2e9}})",
      R"({"compression": {"method": "topk", "density": 0.01, "costs": {"select_s_per_element": 1e-9}}})",
      R"({"compression": {"method": "dgc", "density": 0.01, "select_stream": "side", "costs": {"select_s": 1e-2}}})",
      R"({"compression": {"method": "signsgd"}})",
      R"({"compression": {"method": "gtopk_tree", "density": 0.001}})",
      R"({"schedule": "eager"})",
      R"({"schedule": "exhaustive"})",
      R"({})"};
  static constexpr std::array<const char*, 16> kTraining{
      R"({})",
      R"({})",
      R"({})",
      R"({"algorithm": "od_sgd"})",
      R"({"sharding": "zero1"})",
      R"({"sharding": {"strategy": "zero1", "gather_by": "broadcast_view"}})",
      R"({"sharding": "zero2", "micro_batches": 2})",
      R"({"sharding": "full_shard"})",
      R"({"micro_batches": 3, "accumulation_exchange": "each"})",
      R"({"overlap": {"compute": 1.2}})",
      R"({"overlap": {"compute": 1.2, "exchange": 1.3}})",
      R"({"overlap": {"exchange": 1.5}})",
      R"({"sync_s": 0.0001})",
      R"({"host_copy_Bps": 1e10})",
      R"({"micro_batches": 2})",
      R"({"exchange_s": 0.001})"};
  std::string keys = "{";
  const auto add = [&](const std::string& object, const std::string& chosen) {
    const io::Json tree = json(chosen);
    for (const auto& [key, value] : tree.as_object()) {
      keys += (keys.size() > 1 ? ", " : "") + ("\"/" + object + "/" + key + "\": ") +
              io::compact(value);
    }
  };
  add("communication", pick(random, kKeys));
  add("training", pick(random, kTraining));
  return keys + "}";
}

// The headers of its packets, and the packet that every step of a message stores on its way.
double packet_slack_s(const Result& links) {
  constexpr double kHeaders = 40.0 / 1460;
  const double packet_s = 1500 / links.scenario->cluster.network.bandwidth_Bps;
  const auto messages = static_cast<double>(std::max<std::size_t>(1, links.buckets.size()));
  const auto batches = static_cast<double>(links.scenario->training.micro_batches);
  return *links.summary.communication_s * kHeaders +
         messages * batches * 16 * static_cast<double>(links.scenario->cluster.ranks()) * packet_s;
}

// Whether a slightly longer message makes no other message, and its number of steps is known:
// ticks, several messages under way and blocks are left out.
bool is_smooth(const Scenario& scenario) {
  const buckets::Schedule schedule = scenario.communication.schedule;
  const collectives::AlgorithmId collective = scenario.communication.collective;
  return schedule != buckets::Schedule::horovod && schedule != buckets::Schedule::priority &&
         schedule != buckets::Schedule::eager && schedule != buckets::Schedule::asc_wfbp &&
         collective != collectives::AlgorithmId::lp &&
         collective != collectives::AlgorithmId::automatic &&
         collective != collectives::AlgorithmId::double_binary_tree;
}

} // namespace

TEST_CASE("same answer: every key of communication and overlap acts alike on every level") {
  base::RandomStream random(base::RandomKey{.seed = 20261127});
  int levels = 0;
  int packets = 0;
  for (int i = 0; i < cases(); ++i) {
    const std::string plain = with(random_scenario(random, Workers::equal),
                                   R"({"/method": "auto", "/communication/chunking": "integer",
                                       "/cluster/topology": null, "/training/iterations": 12})");
    const std::string text = with(plain, random_keys(random));
    const std::optional<Result> links =
        run_or_none(with(text, R"({"/cluster/network/model": "alpha_beta"})"));
    // Servers are shared ports; flows know contention; no merge is searched there.
    if (!links || links->scenario->training.algorithm == TrainingAlgorithm::parameter_server ||
        links->scenario->communication.schedule == buckets::Schedule::asc_wfbp ||
        estimates(*links) || searches_merge(*links->scenario)) {
      continue;
    }
    CAPTURE(text);
    const double period = *links->summary.iteration_time_s;
    const std::optional<Result> flow =
        run_or_none(with(text, R"({"/cluster/network/model": "flow"})"));
    if (flow) {
      ++levels;
      const bool cut = is_compressed(*links->scenario); // parts of other sizes, by bytes
      CHECK(*flow->summary.iteration_time_s == within(period, cut ? 2e-6 : kSame));
    }
    const std::optional<Result> packet = run_or_none(with(
        text,
        R"({"/cluster/network/model": "packet", "/cluster/network/packet": {"transport": "raw"}})"));
    if (packet && is_smooth(*links->scenario)) {
      ++packets;
      CHECK(*packet->summary.iteration_time_s >= period * (1 - kSame));
      CHECK(*packet->summary.iteration_time_s <= period + packet_slack_s(*links));
    }
  }
  CHECK(levels > cases() / 5);
  CHECK(packets > cases() / 12);
}
