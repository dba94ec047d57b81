#include "calibrate/mpi/replay_plan.hpp"

#include "document/json_text.hpp"
#include "run/run.hpp"

namespace stepsim::calibrate::mpi {

namespace {

// The network of the scenario is replaced as a whole: its numbers belong to another machine.
io::Json adapted(const io::Json& scenario, const std::string& calibration,
                 const std::string& schedule, std::uint32_t ranks) {
  io::Json tree = scenario;
  io::assign(tree, "/cluster/nodes", std::int64_t{ranks});
  io::assign(tree, "/cluster/gpus_per_node", 1);
  io::assign(tree, "/cluster/network",
             io::Object{{"model", "alpha_beta"}, {"calibration", calibration}});
  if (!schedule.empty()) {
    io::assign(tree, "/communication/schedule", schedule);
  }
  return tree;
}

// One FIFO channel that sends whole buckets, and nothing that changes the compute stream.
void require_executable(const study::Scenario& scenario) {
  const auto refuse = [](const std::string& what) {
    throw UsageError("replay: " + what + " cannot be executed, only simulated");
  };
  if (scenario.training.algorithm != study::TrainingAlgorithm::sync_sgd) {
    refuse("training other than sync_sgd");
  }
  if (scenario.communication.compression.method != collectives::CompressionMethod::none) {
    refuse("compression");
  }
  if (scenario.communication.reduce_broadcast || !scenario.other_jobs.empty()) {
    refuse("exchange reduce_broadcast or several jobs");
  }
  if (const buckets::Planner& planner = buckets::planner(scenario.communication.schedule);
      !planner.one_channel(scenario.communication.schedule_options)) {
    refuse(planner.one_channel({}) ? "several messages at once"
                                   : "schedule " + std::string(planner.name));
  }
}

// What simulator and processes can both run.
Kind kind_of(const study::Scenario& scenario) {
  for (const Kind& kind : kinds()) {
    if (kind.op == collectives::Op::allreduce && !kind.sparse &&
        kind.algorithm == scenario.communication.collective) {
      return kind;
    }
  }
  throw UsageError("replay: collective " +
                   std::string(collectives::name(scenario.communication.collective)) +
                   " cannot be executed; mst, be, lp, ring and recursive_doubling can");
}

// Sizes are rounded to whole elements and stay above 0: a bucket that vanishes would change the
// schedule.
void apply(const ReplayScale& scale, study::Scenario& scenario) {
  for (layers::WorkLayer& layer : scenario.workload.layers.edit()) {
    layer.forward = layer.forward * scale.time;
    layer.backward = layer.backward * scale.time;
  }
  scenario.training.update = scenario.training.update * scale.time;
  for (layers::Gradient& gradient :
       scenario.workload.gradients.edit()) { // whole elements, at least one
    const double elements = static_cast<double>(gradient.bytes.value) * scale.bytes / kElement;
    const std::int64_t whole = std::max<std::int64_t>(1, std::llround(elements));
    gradient.bytes = gradient.bytes.value > 0 ? Bytes{whole * kElement} : Bytes{0};
    gradient.elements = gradient.elements > 0 ? whole : 0;
  }
}

} // namespace

// Scaling comes after parsing, so that prediction and execution have the same workload.
ReplayPlan replay_plan(const io::Json& scenario_file, const std::string& calibration,
                       const std::string& schedule, std::uint32_t ranks, const ReplayScale& scale,
                       bool library, study::Files& files) {
  study::Scenario scenario = study::parse_scenario(
      adapted(scenario_file, calibration, schedule, ranks), files, study::Leftovers::ignore);
  require_executable(scenario);
  if (library != scenario.communication.calibrated) {
    throw UsageError(library ? "--library: the scenario's collective must be calibrated"
                             : "replay: collective calibrated needs --library");
  }
  ReplayPlan plan;
  if (!library) {
    plan.kind = kind_of(scenario);
  }
  apply(scale, scenario);
  const study::Result result = study::run(scenario);
  plan.schedule = buckets::planner(scenario.communication.schedule).name;
  plan.warnings = result.warnings;
  plan.update_s = result.summary.update_s.value_or(0);
  plan.compute_s = result.summary.forward_s.value_or(0) + result.summary.backward_s.value_or(0);
  plan.predicted_s = study::step_of(result.summary);
  plan.predicted_exposed_s = result.summary.exposed_communication_s.value_or(0);
  for (const study::Bucket& bucket : result.buckets) {
    if (bucket.bytes.value % kElement != 0) {
      throw UsageError("replay: bucket " + std::to_string(bucket.index) + " has " +
                       std::to_string(bucket.bytes.value) + " bytes, not whole fp32 elements");
    }
    plan.buckets.push_back({bucket.bytes.value, bucket.ready_s, bucket.start_s, bucket.end_s});
  }
  if (plan.buckets.empty()) {
    throw UsageError("replay: the scenario exchanges nothing");
  }
  return plan;
}

} // namespace stepsim::calibrate::mpi
