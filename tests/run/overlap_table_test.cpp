// The 36 step times of TRN 11.2: three networks on 16 V100 under interference, with synthetic times
// per tensor. MG-WFBP merges by the constants that its authors publish, and the messages take other
// constants.
#include <doctest/doctest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "document/json_text.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/event_pass.hpp"
#include "programs/program_draft.hpp"
#include "run/planned_messages.hpp"
#include "scenario/scenario_text.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim;
using namespace stepsim::study;
using namespace stepsim::study::testing;
using stepsim::testing::plus_minus;

namespace {

struct Link {
  buckets::LinearCost published; // what MG-WFBP plans with (MER 10.6)
  buckets::LinearCost running;
  double slowdown;
};
constexpr Link kEthernet{{9.080981007148093e-4, 7.395651186836712e-10}, {7.9e-4, 2.13e-9}, 2.26};
constexpr Link kInfiniband{
    {2.3583677659915685e-4, 4.0594787739537565e-10}, {4.6e-4, 1.15e-9}, 1.78};

// Step time and number of messages; a third of `compute_s` is forward.
std::pair<double, std::size_t> step(const std::string& model, double compute_s, int value_bytes,
                                    const Link& link, buckets::Schedule schedule) {
  const Scenario given = scenario(
      R"({"workload": {"model": ")" + model + R"(", "batch_size": 1, "value_bytes": )" +
      std::to_string(value_bytes) + R"(, "measured": {"compute_s": )" + std::to_string(compute_s) +
      R"(}}, "cluster": {"nodes": 16, "network": {"latency_s": 0, "bandwidth_Bps": 1e9}},
          "training": {"update_s": 0}})");
  buckets::Problem problem = merge_problem(given);
  problem.cost = {.base = link.published};
  const buckets::Plan plan = buckets::make_plan(problem, schedule, {});
  std::vector<programs::LayerTimes> layers;
  for (const layers::WorkLayer& layer : given.workload.layers) {
    layers.push_back({.forward = layer.forward, .backward = layer.backward});
  }
  std::vector<programs::BucketTimes> buckets;
  for (const buckets::Group& group : plan.groups) {
    const auto bytes = static_cast<double>(group.bytes.value);
    programs::BucketTimes& bucket = buckets.emplace_back();
    bucket.reduce = {{link.running.startup_s}, {link.running.per_byte_s * bytes}};
    for (const std::uint32_t item : group.items) {
      bucket.layers.push_back(problem.items[item].layer);
    }
  }
  programs::Program program = programs::sync_sgd_program(layers, buckets);
  program.interference.compute.fill(link.slowdown);
  programs::check(program, model);
  const programs::EventPeriod found = programs::event_period(program);
  CHECK(found.cyclicity == 1);
  return {found.period.value, buckets.size()};
}

// The same as a scenario with overlap and, for the buckets, a cost of their own.
double run_step(const std::string& model, double compute_s, int value_bytes, const Link& link,
                const std::string& schedule) {
  const auto cost = [](const buckets::LinearCost& linear) {
    return io::compact(
        io::Object{{"startup_s", linear.startup_s}, {"per_byte_s", linear.per_byte_s}});
  };
  const std::string planned =
      schedule == "mg_wfbp" ? R"(, "plan_cost": )" + cost(link.published) : std::string();
  const Result result = run_text(
      R"({"workload": {"model": ")" + model + R"(", "batch_size": 1, "value_bytes": )" +
      std::to_string(value_bytes) + R"(, "measured": {"compute_s": )" + std::to_string(compute_s) +
      R"(}}, "cluster": {"nodes": 16, "network": {"cost": )" + cost(link.running) +
      R"(}}, "training": {"update_s": 0, "overlap": {"compute": )" + std::to_string(link.slowdown) +
      R"(}}, "communication": {"schedule": ")" + schedule + "\"" + planned + "}}");
  return *result.summary.iteration_time_s;
}

struct Row {
  const char* model;
  const Link& link;
  double compute_s;
  int value_bytes;
  double wfbp, single, mg_wfbp; // step times, s
  std::size_t groups;           // of mg_wfbp
};

} // namespace

TEST_CASE("overlap: step times of three networks on 16 V100 (TRN 11.2)") {
  const std::array rows{
      Row{"resnet152", kEthernet, 0.8831, 4, 1.375092827, 1.396732724, 1.234151234, 147},
      Row{"resnet152", kEthernet, 0.3886, 2, 0.754930777, 0.645811362, 0.579936104, 109},
      Row{"resnet152", kInfiniband, 0.8831, 4, 1.098849816, 1.160446917, 1.036160602, 156},
      Row{"resnet152", kInfiniband, 0.3886, 2, 0.543671425, 0.527503458, 0.480780638, 155},
      Row{"densenet161", kEthernet, 0.4777, 4, 0.827514206, 0.722852120, 0.642528365, 64},
      Row{"densenet161", kEthernet, 0.2530, 2, 0.588922584, 0.375971060, 0.341314714, 45},
      Row{"densenet161", kInfiniband, 0.4777, 4, 0.633369406, 0.610092600, 0.559593676, 118},
      Row{"densenet161", kInfiniband, 0.2530, 2, 0.379744591, 0.319426300, 0.305968860, 118},
      Row{"densenet201", kEthernet, 0.3609, 4, 0.768086313, 0.532208667, 0.486743485, 69},
      Row{"densenet201", kEthernet, 0.2152, 2, 0.634216855, 0.301249333, 0.285123380, 50},
      Row{"densenet201", kInfiniband, 0.3609, 4, 0.523275534, 0.453424069, 0.431559804, 149},
      Row{"densenet201", kInfiniband, 0.2152, 2, 0.395669556, 0.261692034, 0.264668441, 144}};
  for (const Row& row : rows) {
    CAPTURE(row.model);
    CAPTURE(row.compute_s);
    const auto at = [&](buckets::Schedule schedule) {
      return step(row.model, row.compute_s, row.value_bytes, row.link, schedule);
    };
    CHECK(at(buckets::Schedule::wfbp).first == plus_minus(row.wfbp, 1e-6));
    CHECK(at(buckets::Schedule::single).first == plus_minus(row.single, 1e-6));
    const auto [period, groups] = at(buckets::Schedule::mg_wfbp);
    CHECK(period == plus_minus(row.mg_wfbp, 1e-6));
    CHECK(groups == row.groups);
    const auto by_run = [&](const std::string& schedule) {
      return run_step(row.model, row.compute_s, row.value_bytes, row.link, schedule);
    };
    CHECK(by_run("wfbp") == plus_minus(row.wfbp, 1e-6));
    CHECK(by_run("single") == plus_minus(row.single, 1e-6));
    CHECK(by_run("mg_wfbp") == plus_minus(row.mg_wfbp, 1e-6));
  }
}
