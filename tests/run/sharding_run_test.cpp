// Micro-batches and sharding through whole scenarios: rows S, Z and F of TRN 11.3 and 11.4, with
// exchanges by a cost curve; memory and volume, TRN 5 and rows M.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "document/json_text.hpp"
#include "run/group_exchange.hpp"
#include "run/period_figures.hpp"
#include "run/scenario_program.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_training.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::within;

namespace {

Figures figures_of(const std::string& text) {
  const Summary summary = run_text(text).summary;
  return {*summary.iteration_time_s, *summary.exposed_communication_s};
}

const std::string kG3 = R"({"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4},
  {"name": "b", "forward_s": 2, "backward_s": 2, "gradient_bytes": 8},
  {"name": "c", "forward_s": 1, "backward_s": 2, "gradient_bytes": 12},
  {"name": "d", "forward_s": 1, "backward_s": 2, "gradient_bytes": 16})";

std::string scenario_of(const std::string& layers, const std::string& cost,
                        const std::string& training, const std::string& communication,
                        int nodes = 4) {
  return R"({"workload": {"layers": [)" + layers + R"(]}, "cluster": {"nodes": )" +
         std::to_string(nodes) + R"(, "network": {"cost": )" + cost +
         R"(}}, "limits": {"simulated_s": 10000}, "training": {)" + training +
         R"(}, "communication": {)" + communication + "}}";
}

// T(m) = 0.5 + 0.25 m, or three times that.
std::string g3(const std::string& training, const std::string& schedule = "wfbp",
               const std::string& cost = R"({"startup_s": 0.5, "per_byte_s": 0.25})",
               const std::string& more = "", int nodes = 4) {
  return scenario_of(kG3, cost, training, R"("schedule": ")" + schedule + "\"" + more, nodes);
}
const std::string kSlow = R"({"startup_s": 1.5, "per_byte_s": 0.75})";

// Three units; gathers and reductions take half of the cost at 2 and 4 bytes a parameter, or at 2
// and 2.
const std::string kUnits =
    R"({"name": "a", "forward_s": 2, "backward_s": 4, "gradient_bytes": 400},
  {"name": "b", "forward_s": 3, "backward_s": 6, "gradient_bytes": 800},
  {"name": "c", "forward_s": 4, "backward_s": 8, "gradient_bytes": 1200})";

std::string sharding(const std::string& keys) {
  return R"("strategy": "full_shard", "wrapping": {"policy": "layer"}, "communicators": 2)" +
         (keys.find("keep_last") == std::string::npos ? std::string(R"(, "keep_last": true)")
                                                      : "") +
         keys;
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
  if (const std::size_t at = text.find(from); at != std::string::npos) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Gathers 1, 2, 3 s and reductions 1, 2, 3 s.
Figures set_a(const std::string& keys, const std::string& training = "") {
  const std::string object =
      R"("sharding": {"parameter_bytes": 2, "reduce_bytes": 2, )" + keys + "}";
  return figures_of(
      scenario_of(kUnits, R"({"startup_s": 0, "per_byte_s": 0.01})", training + object, ""));
}
// Gathers 5, 6, 7 s and reductions 6, 8, 9 s.
Figures set_b(const std::string& keys, const std::string& training = "") {
  const std::string object = R"("sharding": {)" + keys + "}";
  return figures_of(
      scenario_of(kUnits, R"({"table": [[200, 10], [400, 12], [600, 14], [800, 16], [1200, 18]]})",
                  training + object, ""));
}
std::string one(const std::string& keys) {
  return replaced(sharding(keys), R"("communicators": 2)", R"("communicators": 1)");
}

} // namespace

TEST_CASE("accumulation: rows S1 to S4") {
  CHECK(figures_of(g3("")) == Figures{19, 6});
  CHECK(figures_of(g3(R"("update_s": 4)")) == Figures{23, 6});
  CHECK(figures_of(g3(R"("micro_batches": 2)")) == Figures{32, 6});
  CHECK(figures_of(g3(R"("micro_batches": 4)")) == Figures{58, 6});
  CHECK(figures_of(g3(R"("micro_batches": 4, "accumulation_exchange": "each")")) == Figures{58, 6});
  CHECK(figures_of(g3(R"("micro_batches": 2)", "single")) == Figures{36.5, 10.5});
  CHECK(figures_of(g3(R"("micro_batches": 4)", "single")) == Figures{62.5, 10.5});
  CHECK(figures_of(g3(R"("micro_batches": 2)", "wfbp", kSlow)) == Figures{56, 30});
  CHECK(figures_of(g3(R"("micro_batches": 3)", "wfbp", kSlow)) == Figures{69, 30});
  const std::string each = R"(, "accumulation_exchange": "each")";
  CHECK(figures_of(g3(R"("micro_batches": 2)" + each, "wfbp", kSlow)) == Figures{79, 53});
  CHECK(figures_of(g3(R"("micro_batches": 3)" + each, "wfbp", kSlow)) == Figures{115, 76});
}

TEST_CASE("accumulation: (M - 1) steps longer than one, with every fifo schedule") {
  for (const char* schedule : {"wfbp", "single", "ddp", "mg_wfbp", "optimal", "eager"}) {
    CAPTURE(schedule);
    const Figures once = figures_of(g3(R"("update_s": 0.5)", schedule));
    CHECK(figures_of(g3(R"("update_s": 0.5, "micro_batches": 3)", schedule)) ==
          Figures{once.period + 2 * 13, once.exposed});
  }
}

TEST_CASE("zero: rows Z1 to Z6") {
  const auto zero = [](const std::string& word, const std::string& keys = "",
                       const std::string& training = "", int nodes = 4) {
    return figures_of(g3(training + R"("sharding": {"strategy": ")" + word +
                             R"(", "parameter_bytes": 4, "reduce_bytes": 4)" + keys + "}",
                         "wfbp", R"({"startup_s": 0.5, "per_byte_s": 0.25})", "", nodes));
  };
  CHECK(zero("zero1") == Figures{19.75, 6.75});
  CHECK(zero("zero2") == Figures{19.75, 6.75});
  CHECK(zero("zero1", "", R"("micro_batches": 3, )") == Figures{45.75, 6.75});
  CHECK(zero("zero2", "", R"("micro_batches": 3, )") == Figures{45.75, 6.75});
  CHECK(zero("zero2", R"(, "gather": "per_layer")") == Figures{15.75, 2.75});
  CHECK(zero("zero1", "", R"("micro_batches": 2, "update_s": 8, )", 8) == Figures{33.75, 6.75});
}

TEST_CASE("full_shard: rows F1 to F16") {
  CHECK(set_a(sharding("")) == Figures{29, 2});
  CHECK(set_b(sharding("")) == Figures{53, 26});
  CHECK(set_a(sharding(R"(, "ahead_forward": 0)")) == Figures{34, 7});
  CHECK(set_b(sharding(R"(, "ahead_forward": 0)")) == Figures{58, 31});
  CHECK(set_a(sharding(R"(, "ahead_forward": 1)")) == Figures{29, 2});
  CHECK(set_a(sharding(R"(, "backward_prefetch": "post")")) == Figures{32, 5});
  CHECK(set_b(sharding(R"(, "backward_prefetch": "none")")) == Figures{57, 30});
  CHECK(set_b(one("")) == Figures{58, 31});
  CHECK(set_b(one(R"(, "backward_prefetch": "post")")) == Figures{64, 37});
  CHECK(set_b(one(R"(, "backward_prefetch": "none")")) == Figures{74, 47});
  CHECK(set_b(sharding(R"(, "keep_last": false)")) == Figures{56, 29});
  const std::string kept = R"("strategy": "shard_grad_op", "wrapping": {"policy": "layer"},
                             "communicators": 2)";
  CHECK(set_a(kept) == Figures{29, 2});
  CHECK(set_b(kept) == Figures{53, 26});
  CHECK(set_b(sharding(R"(, "reduces_in_flight": null)")) == Figures{53, 26});
  const std::string two = R"("micro_batches": 2, )";
  CHECK(set_a(sharding(""), two) == Figures{56, 2});
  CHECK(set_b(sharding(""), two) == Figures{88, 34});
  CHECK(set_b(sharding(""), two + R"("accumulation_exchange": "last", )") == Figures{88, 34});
  CHECK(set_b(kept, two + R"("accumulation_exchange": "last", )") == Figures{80, 26});
  CHECK(set_a(sharding(""), R"("update_s": 8, )") == Figures{31, 2});
  CHECK(set_a(one(""), R"("micro_batches": 3, )") == Figures{87, 6});
  CHECK(set_b(one(""), R"("micro_batches": 3, )") == Figures{174, 93});
}

TEST_CASE("full_shard: gathers wait for a batch that is not read ahead") {
  const std::string layers =
      R"({"name": "a", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4000},
      {"name": "b", "forward_s": 1, "backward_s": 2, "gradient_bytes": 4000})";
  for (const int reading : {2, 8}) {
    const auto period = [&](const std::string& training) {
      return figures_of(R"({"workload": {"layers": [)" + layers + R"(]}, "allow_unusual": true,
          "cluster": {"nodes": 2, "network": {"latency_s": 0, "bandwidth_Bps": 250}}, "training": {)" +
                        training + R"("sharding": {"strategy": "full_shard", "communicators": 2,
          "wrapping": {"policy": "layer"}}}, "communication": {"collective": "ring"}})")
          .period;
    };
    const std::string input = R"("input_pipelined": false, "input_s": )" + std::to_string(reading);
    CHECK(period(input + ", ") == within(period("") + reading, 1e-12));
  }
}

TEST_CASE("full_shard: one unit, row F18") {
  const auto unit = [](const std::string& keys) {
    return figures_of(
        scenario_of(R"({"name": "a", "forward_s": 3, "backward_s": 6, "gradient_bytes": 416})",
                    R"({"startup_s": 0, "per_byte_s": 0.009615384615384616})",
                    R"("update_s": 4, "sharding": {"strategy": "full_shard", "parameter_bytes": 4,
           "reduce_bytes": 5)" +
                        keys + "}",
                    "", 8));
  };
  CHECK(unit(R"(, "keep_last": true)") == Figures{14, 4.5});
  CHECK(unit(R"(, "backward_prefetch": "post")") == Figures{16, 6.5});
}

TEST_CASE("full_shard: live memory is that of the program, rows M1 to M3") {
  const auto live = [](const std::string& keys) {
    const Result result = run_text(scenario_of(
        kUnits, R"({"table": [[200, 10], [400, 12], [600, 14], [800, 16], [1200, 18]]})",
        R"("sharding": {)" + keys + "}", ""));
    return *result.summary.memory_parts_units_bytes;
  };
  CHECK(live(sharding("")) == 2600);
  CHECK(live(sharding(R"(, "backward_prefetch": "none")")) == 2400);
}

TEST_CASE("sharding: stored bytes and volume, rows M4 to M6") {
  const auto summary = [](const std::string& strategy, int nodes) {
    return run_text(
               R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
                 "gradient_bytes": 32121044992}]}, "cluster": {"nodes": )" +
               std::to_string(nodes) +
               R"(, "network": {"latency_s": 0, "bandwidth_Bps": 1e11}}, "training": {"sharding": ")" +
               strategy + R"("}})")
        .summary;
  };
  const Summary wide = summary("full_shard", 128);
  CHECK(*wide.memory_parts_parameters_bytes == 250'945'664);
  CHECK(*wide.memory_parts_optimizer_bytes == 501'891'328);
  CHECK(*wide.memory_parts_gradients_bytes == 250'945'664);
  const Summary full = summary("full_shard", 8);
  CHECK(*full.memory_parts_parameters_bytes == 4'015'130'624);
  CHECK(*full.memory_parts_optimizer_bytes == 8'030'261'248);
  CHECK(*full.wire_bytes == within(56'211'828'736.0, 1e-9));
  const Summary zero = summary("zero1", 8);
  CHECK(*zero.memory_parts_parameters_bytes == 16'060'522'496);
  CHECK(*zero.memory_parts_master_bytes == 4'015'130'624);
  CHECK(*zero.memory_parts_gradients_bytes == 32'121'044'992);
  CHECK(*zero.memory_parts_optimizer_bytes == 8'030'261'248);
  CHECK(*zero.memory_bytes ==
        *zero.memory_parts_parameters_bytes + *zero.memory_parts_master_bytes +
            *zero.memory_parts_gradients_bytes + *zero.memory_parts_optimizer_bytes +
            *zero.memory_parts_update_bytes + *zero.memory_parts_allocator_bytes + 1e9);
  CHECK(*zero.memory_parts_update_bytes == 4'015'130'624); // PyTorch's adam
  CHECK(*zero.memory_parts_allocator_bytes == within(0.05 * 4'015'130'624, 1e-12));
}

TEST_CASE("sharding: what a GPU does not hold does not fit") {
  const auto result = [](const std::string& bytes, const std::string& more) {
    return run_text(
        R"({"workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
            "gradient_bytes": 4000000}]}, "cluster": {"nodes": 2, "gpu_memory_bytes": )" +
        bytes + R"(, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
            "training": {)" +
        more + R"("optimizer": "adam_fused", "sharding": "zero1"}})");
  };
  // 1e6 parameters: 2 + 4 / 2 + 4 + 8 / 2 bytes each, and 1 GB of context.
  const Result full = result("1011999999", "");
  CHECK(*full.summary.memory_bytes == within(1e9 + 12e6, 1e-12));
  CHECK(full.summary.memory_fits == false);
  CHECK_FALSE(result("1012000000", "").summary.memory_fits.has_value()); // activations unknown
  CHECK_FALSE(result("2011999999", R"("activation_bytes": 0, )").summary.memory_fits.has_value());
  CHECK(result("2012000000", R"("activation_bytes": 0, )").summary.memory_fits == true); // 2 GB
  CHECK(result("1012000000", R"("activation_bytes": 1000, )").summary.memory_fits == false);
}

TEST_CASE("hybrid_shard: gathers on the links of a node, replicas on the network") {
  for (const int cards : {1, 2}) {
    const Result result = run_text(
        R"({"allow_unusual": true,
          "workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
            "gradient_bytes": 1600}]},
          "cluster": {"nodes": 4, "gpus_per_node": 2, "nics_per_node": )" +
        std::to_string(cards) + R"(,
            "network": {"latency_s": 0, "bandwidth_Bps": 100},
            "intra_network": {"latency_s": 0, "bandwidth_Bps": 800}},
          "training": {"sharding": {"strategy": "hybrid_shard", "communicators": 2}},
          "communication": {"collective": "ring"}})");
    const ScenarioProgram made = scenario_program(*result.scenario);
    const ProgramUnit& unit = made.units.front();
    // 400 parameters on 2 ranks: half of 800 and of 1600 bytes over the links of the node; 800
    // bytes of gradients on 4 replicas, two of which share the cards. No ring leaves its level.
    CHECK(unit.gather.seconds == within(0.5 * 800 / 800, 1e-12));
    CHECK(unit.reduce.seconds == within(0.5 * 1600 / 800, 1e-12));
    CHECK(unit.replicate.seconds == within(2 * 0.75 * 800 * 2 / cards / 100, 1e-12));
    CHECK(made.program.groups.size() == 2);
    CHECK(*result.summary.memory_parts_parameters_bytes == 4.0 * 400 / 2);
    CHECK(std::ranges::none_of(result.warnings,
                               [](const std::string& each) { return each.starts_with("flat"); }));
  }
}

TEST_CASE("hybrid_shard: groups of a part of a node, of a node and of two nodes") {
  // 4 nodes of 4 GPUs with one card. Copies of S ranks gather 800 bytes and reduce 1600, and 16 / S
  // of them all-reduce 1600 / S: a ring is as slow as its slowest link.
  struct Expected {
    int ranks;
    double link_Bps; // of gathers
    int sharing;     // replica parts that use the card of a node
    std::string name;
  };
  for (const Expected& each :
       {Expected{2, 800, 2, "shard"}, Expected{4, 800, 4, "node"}, Expected{8, 100, 4, "shard"}}) {
    CAPTURE(each.ranks);
    const Result result = run_text(
        R"({"allow_unusual": true,
            "workload": {"layers": [{"name": "a", "forward_s": 1, "backward_s": 2,
              "gradient_bytes": 1600}]},
            "cluster": {"nodes": 4, "gpus_per_node": 4,
              "network": {"latency_s": 0, "bandwidth_Bps": 100},
              "intra_network": {"latency_s": 0, "bandwidth_Bps": 800}},
            "training": {"sharding": {"strategy": "hybrid_shard", "communicators": 2,
              "shard_ranks": )" +
        std::to_string(each.ranks) + R"(}}, "communication": {"collective": "ring"}})");
    const ScenarioProgram made = scenario_program(*result.scenario);
    const ProgramUnit& unit = made.units.front();
    const double s = each.ranks;
    const double copies = 16 / s;
    CHECK(unit.gather.seconds == within((s - 1) / s * 800 / each.link_Bps, 1e-12));
    CHECK(unit.reduce.seconds == within((s - 1) / s * 1600 / each.link_Bps, 1e-12));
    CHECK(unit.replicate.seconds ==
          within(2 * (copies - 1) / copies * 1600 / s * each.sharing / 100, 1e-12));
    CHECK(made.program.groups.front().name == each.name);
    CHECK(made.program.groups.front().parts.size() == static_cast<std::size_t>(copies));
    CHECK(made.program.groups.back().parts.back().front() == each.ranks - 1);
    CHECK(*result.summary.memory_parts_parameters_bytes == 4.0 * 400 / s);
  }
}

TEST_CASE("hybrid_shard: an NVLink domain is one node") {
  // 8 machines of 4 GPUs in domains of 4 are 2 nodes of 16 GPUs and as many interfaces.
  const auto summary = [](const std::string& cluster) {
    return run_text(R"({"workload": {"layers": [
            {"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 40000000},
            {"name": "b", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 40000000}]},
          "cluster": {)" +
                    cluster +
                    R"(, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9},
            "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 3e11}},
          "training": {"sharding": "hybrid_shard"}})")
        .summary;
  };
  const Summary joined = summary(R"("nodes": 8, "gpus_per_node": 4, "nvlink_domain_nodes": 4)");
  const Summary written = summary(R"("nodes": 2, "gpus_per_node": 16, "nics_per_node": 4)");
  CHECK(*joined.iteration_time_s == within(*written.iteration_time_s, 1e-9));
  CHECK(*joined.memory_bytes == within(*written.memory_bytes, 1e-9));
  CHECK(*summary(R"("nodes": 8, "gpus_per_node": 4)").iteration_time_s >
        3 * *joined.iteration_time_s);
  const Scenario eight = scenario(
      R"({"workload": {"model": "alexnet", "batch_size": 32, "device": {"flops_Ps": 1e13}},
          "cluster": {"nodes": 8, "gpus_per_node": 4, "nvlink_domain_nodes": 4,
            "network": {"latency_s": 1e-5, "bandwidth_Bps": 1.25e9},
            "intra_network": {"latency_s": 1e-6, "bandwidth_Bps": 3e11}}})");
  const programs::Group nodes = rank_group(eight, RankGroup::node);
  CHECK(nodes.parts.size() == 2);
  CHECK(nodes.parts.back().front() == 16);
  CHECK(rank_group(eight, RankGroup::replica).parts.size() == 16);
}

TEST_CASE("hybrid_shard: one NVLink domain has no replicas") {
  CHECK(problem_of(
            R"({"workload": {"model": "alexnet", "batch_size": 32, "device": {"flops_Ps": 1e13}},
                "cluster": {"nodes": 18, "preset": "gb200_nvl72"},
                "training": {"sharding": "hybrid_shard"}})")
            .ends_with("hybrid_shard needs at least 2 nodes and 2 ranks in each; "
                       "nvlink_domain_nodes makes 1 node of the 18 machines"));
  const Result racks = run_text(
      R"({"workload": {"model": "alexnet", "batch_size": 32, "device": {"flops_Ps": 1e13}},
          "cluster": {"nodes": 36, "preset": "gb200_nvl72"},
          "training": {"sharding": "hybrid_shard"}})");
  CHECK(shard_ranks(*racks.scenario) == 72);
}

TEST_CASE("sharding: efficiency is below 1 by what of communication is exposed") {
  for (const char* strategy : {"zero1", "zero2", "full_shard", "shard_grad_op"}) {
    CAPTURE(std::string(strategy));
    const Result result = run_text(
        R"({"workload": {"model": "alexnet", "batch_size": 32, "device": {"flops_Ps": 1e13}},
            "cluster": {"nodes": 8, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e11}},
            "training": {"update_s": 0.5, "sharding": ")" +
        std::string(strategy) + "\"}}");
    const Summary& summary = result.summary;
    CHECK(*summary.exposed_communication_s > 0);
    CHECK(*summary.scaling_efficiency ==
          within(1 - *summary.exposed_communication_s / *summary.iteration_time_s, 1e-9));
    CHECK(*summary.speedup == within(8 * *summary.scaling_efficiency, 1e-12));
    CHECK(summary.baseline.find("update of one shard") != std::string::npos);
  }
}

TEST_CASE("program: samples count all micro-batches, and parts add up") {
  const std::string text =
      R"({"workload": {"model": "alexnet", "batch_size": 32, "device": {"flops_Ps": 1e13}},
          "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9}},
          "training": {"micro_batches": 3, "sharding": "full_shard"},
          "variability": {"compute_cv": 0.1, "stragglers": [{"worker": 1, "factor": 1.5}]}})";
  const Summary summary = run_text(text).summary;
  CHECK(*summary.samples_per_s == within(3 * 4 * 32 / *summary.iteration_time_s, 1e-12));
  CHECK(*summary.compute_s + *summary.exposed_communication_s ==
        within(*summary.iteration_time_s, 1e-9));
  CHECK(*summary.straggler_wait_s > 0);
  CHECK(*summary.utilization ==
        within(1 - *summary.exposed_communication_s / *summary.iteration_time_s, 1e-9));
}

TEST_CASE("full_shard: units planned without messages that meet are not certified") {
  for (const char* model : {R"("model": "alpha_beta")", R"("model": "flow")",
                            R"("model": "packet", "packet": {"transport": "dctcp"})"}) {
    const Summary summary = run_text(R"({"workload": {"layers": [
        {"name": "a", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000},
        {"name": "b", "forward_s": 1e-3, "backward_s": 2e-3, "gradient_bytes": 4000000}]},
      "cluster": {"nodes": 4, "network": {"latency_s": 1e-5, "bandwidth_Bps": 1e9, )" +
                                     std::string(model) + R"(}}, "training": {"sharding":
        {"strategy": "full_shard", "wrapping": {"policy": "optimal"}}}})")
                                .summary;
    CAPTURE(model);
    CHECK(*summary.certified == (std::string(model).find("packet") == std::string::npos));
  }
}

TEST_CASE("sharding: the resolved scenario is read again the same") {
  for (const char* keys :
       {R"("micro_batches": 2)", R"("sharding": "zero2")",
        R"("sharding": {"strategy": "full_shard", "preset": "fsdp1", "limit_all_gathers": false})",
        R"("sharding": {"strategy": "shard_grad_op", "ahead_forward": null})",
        R"("sharding": {"strategy": "full_shard", "wrapping": {"policy": "block", "blocks": 2}})",
        R"("micro_batches": 3, "sharding": {"strategy": "full_shard", "preset": "torchtitan",
           "wrapping": {"policy": "list", "cuts": [1, 3]}, "backward_prefetch": "post"})"}) {
    CAPTURE(std::string(keys));
    const bool units = std::string(keys).find("shard\"") != std::string::npos ||
                       std::string(keys).find("shard_grad") != std::string::npos;
    const std::string text = scenario_of(kG3, R"({"startup_s": 0.5, "per_byte_s": 0.25})", keys,
                                         units ? "" : R"("schedule": "wfbp")");
    const std::string once = io::compact(scenario_tree(scenario(text)));
    CHECK(io::compact(scenario_tree(scenario(once))) == once);
  }
}

TEST_CASE("sharding: errors of TRN 8.4") {
  const auto problem = [](const std::string& training, const std::string& communication = "") {
    return problem_of(
        scenario_of(kG3, R"({"startup_s": 0.5, "per_byte_s": 0.25})", training, communication));
  };
  CHECK(problem(R"("micro_batches": 0)")
            .find("/training/micro_batches: must be an integer >= 1, got 0") != std::string::npos);
  CHECK(problem(R"("sharding": {"strategy": "full_shard", "communicators": 0})")
            .find("/training/sharding/communicators: must be") != std::string::npos);
  const auto cuts = [&](const std::string& list) {
    return problem(
        R"("sharding": {"strategy": "full_shard", "wrapping": {"policy": "list", "cuts": )" + list +
        "}}");
  };
  CHECK(cuts("[2, 1]").find("/wrapping/cuts/1: 1 is not after 2") != std::string::npos);
  CHECK(cuts("[40]").find("/wrapping/cuts/0: must be in [1, 3], got 40") != std::string::npos);
  CHECK(problem(R"("sharding": {"strategy": "full_shard", "wrapping": {"policy": "all",
                   "blocks": 2}})")
            .find("/wrapping/blocks: blocks has no meaning for policy all") != std::string::npos);
  CHECK(
      problem(R"("sharding": "hybrid_shard")").find("needs at least 2 nodes and 2 ranks in each") !=
      std::string::npos);
  CHECK(problem(R"("algorithm": "parameter_server", "sharding": "zero1")")
            .find("sharding has no meaning for parameter_server") != std::string::npos);
  CHECK(problem(R"("sharding": "zero1")", R"("schedule": "dear")")
            .find("sharding zero1 is not defined for schedule dear") != std::string::npos);
  CHECK(problem(R"("sharding": "full_shard")", R"("schedule": "wfbp")")
            .find("schedule has no meaning for sharding full_shard") != std::string::npos);
  CHECK(problem(R"("accumulation_exchange": "each")")
            .find("accumulation_exchange has no meaning for one micro-batch") != std::string::npos);
  CHECK(problem(R"("sharding": {"strategy": "zero1", "communicators": 2})")
            .find("communicators has no meaning for sharding zero1") != std::string::npos);
}

TEST_CASE("sharding: two communicators that need more of the links than there is are warned of") {
  const auto warns = [](const std::string& communicators, const std::string& bandwidth) {
    const Result result =
        run_text(R"({"workload": {"layers": [)" + kUnits +
                 R"(]}, "cluster": {"nodes": 4, "network": {"latency_s": 1e-6, "bandwidth_Bps": )" +
                 bandwidth + R"(}}, "limits": {"simulated_s": 10000}, "allow_unusual": true,
                 "training": {"sharding": {"strategy": "full_shard", "wrapping": {"policy": "layer"},
                 "communicators": )" +
                 communicators + "}}}");
    return std::ranges::any_of(result.warnings, [](const std::string& warning) {
      return warning.starts_with("shared_links: ");
    });
  };
  CHECK(warns("2", "50"));
  CHECK_FALSE(warns("1", "50"));
  CHECK_FALSE(warns("2", "5000"));
}
