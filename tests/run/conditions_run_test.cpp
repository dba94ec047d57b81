// Steps under typical conditions, and the interval that holds 80 % of real ones (CON 2, 4, 7).
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <utility>

#include "base/random.hpp"
#include "run/work_estimate.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_text.hpp"
#include "scenario/scenario_tree.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using stepsim::testing::within;

namespace {

constexpr double kExact = 1e-9;

struct Step {
  std::string model, forward_s;
  std::string nodes, gpus, network, bus; // of the cluster; network "" = one machine
  std::string communication;             // keys beside the collective
  std::string training{};
};

std::string text_of(const Step& step, const std::string& conditions = R"("typical")") {
  const std::string backward_s = std::to_string(2 * std::stod(step.forward_s));
  return R"({"workload": {"model": ")" + step.model +
         R"(", "batch_size": 1, "measured": {"forward_s": )" + step.forward_s +
         R"(, "backward_s": )" + backward_s + R"(}}, "cluster": {"nodes": )" + step.nodes +
         R"(, "gpus_per_node": )" + step.gpus +
         (step.network.empty() ? "" : R"(, "network": {"latency_s": 1e-6, )" + step.network + "}") +
         R"(, "intra_network": {"latency_s": 1e-6, )" + step.bus +
         R"(}}, "communication": {"collective": "ring", )" + step.communication +
         R"(}, "training": {)" + step.training + R"(}, "conditions": )" + conditions + "}";
}

const std::string kNvlink = R"("bandwidth_Bps": 150e9, "bus": "nvlink")";
const std::string kPcie = R"("bandwidth_Bps": 11.97e9, "bus": "pcie")";
const std::string kRdma = R"("bandwidth_Bps": 12.5e9, "transport": "rdma")";
const std::string kDdp = R"("schedule": "ddp")";

struct Case {
  Step step;
  double step_s, low_s, high_s;
};
const std::array kCases{
    Case{{"resnet50", "0.1", "1", "8", "", kNvlink, kDdp},
         0.320831265648,
         0.294268924469,
         0.349792112870},
    Case{{"bert_base", "0.1", "4", "8", kRdma, kNvlink, kDdp},
         0.372814831057,
         0.334676990048,
         0.419546219875},
    Case{{"bert_base", "0.05", "4", "8", kRdma, kNvlink, kDdp, R"("reduced_precision": true)"},
         0.215728793835,
         0.187244019412,
         0.253442553365},
    Case{{"resnet50", "0.08", "4", "4",
          R"("bandwidth_Bps": 1.25e9, "efficiency": 0.949288, "transport": "tcp")", kPcie,
          R"("schedule": "wfbp")"},
         0.301280769212,
         0.278026926151,
         0.373996856465},
    Case{{"resnet50", "0.1", "4", "8",
          R"("bandwidth_Bps": 3.125e9, "efficiency": 0.949288, "transport": "tcp_cloud")", kNvlink,
          R"("schedule": "horovod", "fusion_bytes": 134217728, "cycle_s": 0.001,
             "blocking": false)"},
         0.414487891927,
         0.344784527456,
         0.653703486150},
    Case{{"bert_large", "0.1", "1", "4", "", kPcie, kDdp},
         0.579364473603,
         0.445650976394,
         0.762438246196},
    Case{{"bert_large", "0.1", "8", "8", R"("bandwidth_Bps": 200e9, "transport": "rdma")",
          R"("bandwidth_Bps": 300e9, "bus": "nvlink")", kDdp,
          R"("micro_batches": 4, "reduced_precision": true)"},
         1.295418808231,
         1.187510485180,
         1.416082538348}};

} // namespace

TEST_CASE("conditions: steps and intervals of the cases A to G (CON 7)") {
  for (const Case& each : kCases) {
    CAPTURE(each.step_s);
    const study::Result result = study::testing::run_text(text_of(each.step));
    CHECK(*result.summary.iteration_time_s == within(each.step_s, kExact));
    CHECK(*result.summary.iteration_time_low_s == within(each.low_s, kExact));
    CHECK(*result.summary.iteration_time_high_s == within(each.high_s, kExact));
    CHECK(*result.summary.interval_level == 0.8);
    double shares = 0;
    for (const study::IntervalPart& part : result.summary.interval_parts) {
      shares += part.share;
    }
    CHECK(shares == within(1, 1e-12));
  }
}

TEST_CASE("conditions: a resolved scenario is as it was written, and runs again to the same step") {
  for (const Case& each : kCases) {
    CAPTURE(each.step_s);
    const study::Scenario scenario = study::testing::scenario(text_of(each.step));
    const io::Json tree = study::scenario_tree(scenario);
    CHECK(tree.find("cluster")->find("intra_network")->find("latency_s")->as_double() == 1e-6);
    const study::Result again =
        study::run(study::parse_scenario(tree, study::testing::shipped_files()));
    CHECK(*again.summary.iteration_time_s == within(each.step_s, kExact));
    CHECK(*again.summary.iteration_time_high_s == within(each.high_s, kExact));
  }
}

TEST_CASE("conditions: a given factor that counts in the step of one worker alone is resolved") {
  // Times of estimates hold what 8 workers lose.
  const study::Result first = study::testing::run_text(R"({"workload": {"model": "gpt2", "gpu":
      "a100-80", "batch_size": 1}, "cluster": {"nodes": 8, "network": {"latency_s": 1e-5,
      "bandwidth_Bps": 1.2e9, "transport": "tcp"}}, "conditions": {"kind": "typical", "factors":
      {"l_0": {"value": 0.1}}}})");
  const study::Result again = study::run(study::parse_scenario(
      study::scenario_tree(*first.scenario), study::testing::shipped_files()));
  CHECK(*again.summary.scaling_efficiency == *first.summary.scaling_efficiency);
}

TEST_CASE("conditions: known factors leave what differs between equal runs") {
  const std::string known = R"({"kind": "typical", "factors": {"e_nvlink": 0.79, "a_nccl": 7e-5,
      "s_bus": 1.1, "l_0": 0.03, "l_1": 0.012}})";
  const study::Result result = study::testing::run_text(text_of(kCases[0].step, known));
  CHECK(*result.summary.iteration_time_s == within(kCases[0].step_s, kExact));
  CHECK(*result.summary.iteration_time_high_s ==
        within(kCases[0].step_s * std::exp(1.2816 * 0.06), kExact));
  CHECK(result.summary.interval_parts.size() == 1);
}

TEST_CASE("conditions: the work that is expected has the runs of the interval") {
  const std::string known = R"({"kind": "typical", "factors": {"e_rdma_one": 0.65, "e_nvlink": 0.79,
      "a_nccl": 7e-5, "h_rdma": 1e-5, "s_net": 1.24, "l_0": 0.03, "l_1": 0.012}})";
  const Step& step = kCases[1].step;
  const double alone = study::estimated_seconds(study::testing::scenario(text_of(step, known)));
  const double all = study::estimated_seconds(study::testing::scenario(text_of(step)));
  CHECK(alone > 0);
  CHECK(all > alone); // the bottleneck is found once
  CHECK(all <= (1 + 2 * 7) * alone);
  // Sharded training asks no planner, and gathers by other algorithms than it would all-reduce.
  CHECK(study::estimated_seconds(study::testing::scenario(R"({"workload": {"model": "llama3_8b",
      "gpu": "h100", "batch_size": 1, "sequence_length": 8192, "dtype": "bf16"}, "cluster": {"nodes":
      1024, "gpus_per_node": 8, "nics_per_node": 8, "network": {"latency_s": 1e-5, "transport": "rdma",
      "bandwidth_Bps": 5e10}, "intra_network": "nvlink-h100"}, "training": {"iterations": 2,
      "sharding": {"strategy": "full_shard"}}, "communication": {"collective": "auto"},
      "conditions": "typical"})")) < 60);
}

TEST_CASE("conditions: a calibration switches off the losses that it contains, link by link") {
  const auto summary = [](const std::string& cluster) {
    return study::testing::run_text(
               R"({"workload": {"layers": [{"name": "a", "forward_s": 0.01, "backward_s": 0.02,
        "gradient_bytes": 4000000000}]}, "communication": {"collective": "ring", "schedule": "wfbp"},
        "conditions": "typical", "cluster": )" +
               cluster + "}")
        .summary;
  };
  const auto factors = [](const study::Summary& of) {
    std::set<std::string> all;
    for (const study::IntervalPart& part : of.interval_parts) {
      all.emplace(part.factor);
    }
    return all;
  };
  const std::string bus = R"("latency_s": 1e-6, "bandwidth_Bps": 1.197e10, "bus": "pcie")";
  const study::Summary typed =
      summary(R"({"nodes": 4, "gpus_per_node": 4, "network": {"calibration":
      "h100x8"}, "intra_network": {)" +
              bus + "}}");
  CHECK(*typed.communication_s == within(30.0 / 16 * 4e9 / (0.36 * 1.197e10), 1e-3));
  CHECK(factors(typed) == std::set<std::string>{"rest", "e_pcie", "s_net", "l_0", "l_1"});
  const study::Summary inside =
      summary(R"({"nodes": 1, "gpus_per_node": 8, "intra_network": {"calibration": "h100x8"}})");
  CHECK(factors(inside) == std::set<std::string>{"rest", "s_bus", "l_0", "l_1"});
  const std::string link = R"("transport": "tcp", "latency_s": 1e-5, "bandwidth_Bps": 1.25e9)";
  const study::Summary replaced = summary(
      R"({"nodes": 4, "network": {"calibration": "icdcs19", "reduction_Bps": 0, )" + link + "}}");
  const study::Summary alone = summary(R"({"nodes": 4, "network": {)" + link + "}}");
  CHECK(factors(replaced) == factors(alone));
  CHECK(factors(alone).contains("a_nccl"));
}

TEST_CASE("conditions: an estimate has the computing of eight GPUs") {
  for (const int gpus : {4, 8, 16}) {
    const study::Scenario scenario = study::testing::scenario(
        R"({"workload": {"model": "gpt2", "gpu": "a100-80", "batch_size": 4}, "cluster":
        {"nodes": 1, "gpus_per_node": )" +
        std::to_string(gpus) + R"(, "intra_network": "nvlink-a100"}, "conditions": "typical"})");
    CHECK(scenario.conditions.computing.front() ==
          within(std::pow(gpus / 8.0, 0.012 / std::log(2)), 1e-12));
  }
  // One that is scaled to a measured step has that of one GPU.
  const study::Result scaled = study::testing::run_text(
      R"({"workload": {"model": "gpt2", "gpu": "a100-80", "batch_size": 4, "measured_step":
      {"step_s": 0.1}}, "cluster": {"nodes": 1}, "conditions": "typical"})");
  CHECK(*scaled.summary.iteration_time_s == within(0.1, 1e-9));
}

TEST_CASE("conditions: a network of which nothing is left is no free one") {
  const std::string none = R"({"kind": "typical", "factors": {"e_tcp": 1e-100}})";
  CHECK_THROWS_AS((void)study::testing::run_text(text_of(kCases[3].step, none)), SimulationError);
}

TEST_CASE("conditions: without losses a step is the ideal one without latency") {
  const std::string none = R"({"kind": "typical", "factors": {"e_rdma_one": 1, "e_nvlink": 1,
      "a_nccl": 1e-300, "h_rdma": 1e-300, "s_net": 1, "l_0": 0, "l_1": 0}})";
  for (const std::string compression :
       {"", R"("method": "topk", "density": 0.01)", R"("method": "topk_dsa", "density": 0.01)",
        R"("method": "gtopk_tree", "density": 0.01)", R"("method": "powersgd", "rank": 4)",
        R"("method": "quantize8")", R"("method": "qsgd")"}) {
    CAPTURE(compression);
    Step step = kCases[1].step;
    step.communication += compression.empty() ? "" : R"(, "compression": {)" + compression + "}";
    const double typical = *study::testing::run_text(text_of(step, none)).summary.iteration_time_s;
    for (std::string* part : {&step.network, &step.bus}) {
      for (const std::string_view key : {R"(, "transport": "rdma")", R"(, "bus": "nvlink")"}) {
        if (const std::size_t at = part->find(key); at != std::string::npos) {
          part->erase(at, key.size());
        }
      }
    }
    std::string ideal = text_of(step, R"("ideal")");
    for (std::size_t at = ideal.find("1e-6"); at != std::string::npos; at = ideal.find("1e-6")) {
      ideal.replace(at, 4, "0");
    }
    CHECK(typical == within(*study::testing::run_text(ideal).summary.iteration_time_s, 1e-12));
  }
}

// CON 2: with eight GPUs in a machine k = exp(0.03 + 0.012 log2 8).
TEST_CASE("conditions: operators of compression take as much longer as computing") {
  Step step = kCases[0].step;
  const auto select_s = [&](const std::string& compression, const std::string& conditions) {
    step.communication = kDdp + R"(, "compression": {)" + compression + "}";
    const study::Result result = study::testing::run_text(text_of(step, conditions));
    return *result.summary.select_s;
  };
  for (const std::string compression :
       {R"("method": "topk", "density": 0.01, "costs": {"select_s": 0.001})",
        R"("method": "custom", "name": "mine", "exchange": "allgather",
           "bytes_per_worker": "4 * n", "compress_s": "1e-9 * n")"}) {
    CAPTURE(compression);
    const double unslowed =
        select_s(compression, R"({"kind": "typical", "factors": {"l_0": 0, "l_1": 0}})");
    CHECK(select_s(compression, R"("typical")") == within(std::exp(0.066) * unslowed, 1e-12));
  }
}

TEST_CASE("conditions: ideal ones leave out what counts under typical ones alone") {
  io::Json tree =
      study::with_short_forms_expanded(io::parse_json(text_of(kCases[2].step), "test.json"));
  study::set_conditions(study::ConditionsKind::ideal, tree);
  const study::Scenario scenario = study::parse_scenario(tree, study::testing::shipped_files());
  CHECK_FALSE(study::is_typical(scenario));
}

// CON 7, properties.
TEST_CASE("conditions: more loss never shortens a step, and the interval holds it") {
  base::RandomStream random({.seed = 91});
  const std::array<std::string, 8> schedules{"single",  "wfbp",  "ddp",     "priority",
                                             "horovod", "eager", "mg_wfbp", "optimal"};
  const std::array<std::string, 3> carriers{"rdma", "tcp", "tcp_cloud"};
  const std::array<std::string, 3> buses{"pcie", "nvlink", "xgmi"};
  const std::array<std::string, 4> collectives{"ring", "hierarchical", "recursive_doubling",
                                               "parameter_server"};
  for (int trial = 0; trial < 40; ++trial) {
    const auto of = [&](const auto& list) { return list[random.integer(0, list.size() - 1)]; };
    const std::string nodes = std::to_string(std::int64_t{1} << random.integer(0, 4));
    const std::string gpus = std::to_string(std::int64_t{1} << random.integer(1, 3));
    const std::string rate = std::to_string(1e9 * random.uniform(0.5, 40));
    const Step step{.model = "resnet50",
                    .forward_s = "0.05",
                    .nodes = nodes,
                    .gpus = gpus,
                    .network = R"("bandwidth_Bps": )" + rate + R"(, "transport": ")" +
                               of(carriers) + R"(")",
                    .bus = R"("bandwidth_Bps": 5e10, "bus": ")" + of(buses) + R"(")",
                    .communication = R"("schedule": ")" + of(schedules) + R"(")"};
    std::string text = text_of(step);
    const bool by_priority = text.find("priority") != std::string::npos; // needs a linear cost
    text.replace(text.find(R"("ring")"), 6,
                 "\"" +
                     collectives[by_priority ? 3 * random.integer(0, 1)
                                             : random.integer(0, collectives.size() - 1)] +
                     "\"");
    CAPTURE(text);
    const study::Scenario scenario = study::testing::scenario(text);
    const study::Result result = study::run(scenario);
    const double step_s = *result.summary.iteration_time_s;
    CHECK(*result.summary.iteration_time_low_s <= step_s);
    CHECK(step_s <= *result.summary.iteration_time_high_s);
    study::Scenario unslowed = scenario;
    unslowed.training.overlap = {};
    CHECK(*study::run(unslowed).summary.iteration_time_s == study::period_of(unslowed));
    for (const study::Factor factor : scenario.conditions.used) {
      CAPTURE(study::kFactors[factor]);
      study::Scenario moved = scenario;
      const bool moves = study::move_factor(scenario, factor, 1, moved);
      const double more = study::period_of(moved);
      CHECK((moves || more == step_s));
      CHECK(*study::run(moved).summary.iteration_time_s == more); // by a program, to the bit
      const bool rate_or_exponent = factor < study::Factor::a_nccl || factor == study::Factor::q;
      CHECK((rate_or_exponent ? step_s - more : more - step_s) >= -1e-12 * step_s);
      CHECK_FALSE(study::move_factor(scenario, factor, 0, moved));
      CHECK(study::period_of(moved) == step_s);
    }
  }
}

TEST_CASE("conditions: what is missing or has no meaning is named") {
  Step step = kCases[1].step;
  step.network = R"("bandwidth_Bps": 12.5e9)";
  CHECK(study::testing::problem_of(text_of(step)).find("/cluster/network/transport") !=
        std::string::npos);
  step = kCases[1].step;
  step.bus = R"("bandwidth_Bps": 150e9)";
  CHECK(study::testing::problem_of(text_of(step)).find("/cluster/intra_network/bus") !=
        std::string::npos);
  CHECK(study::testing::problem_of(text_of(kCases[1].step, R"("ideal")"))
            .find("has no meaning for ideal conditions") != std::string::npos);
  CHECK(study::testing::problem_of(
            text_of(kCases[1].step, R"({"kind": "typical", "factors": {"e_pice": 1}})"))
            .find("did you mean") != std::string::npos);
}
