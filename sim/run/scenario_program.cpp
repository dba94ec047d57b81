// Every training algorithm has one row: when it has a program, and the builder. What a step
// computes and sends is that of `step_input`, so that a program and a run see the same times.
#include "run/scenario_program.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>

#include "base/error.hpp"
#include "plan/planners.hpp"
#include "plan/send_in_order.hpp"
#include "program/builders/dear_program.hpp"
#include "program/builders/pipe_sgd_program.hpp"
#include "program/builders/step_parts.hpp"
#include "program/builders/sync_sgd_program.hpp"
#include "program/program_check.hpp"
#include "run/planned_messages.hpp"
#include "scenario/merge_problem.hpp"
#include "scenario/scenario_exchange.hpp"
#include "train/step/message_gates.hpp"

namespace stepsim::study {

namespace {

using program::BucketTimes;
using program::ExchangeTime;
using program::LayerTimes;

// The parts that builders put together.
struct ProgramParts {
  std::vector<LayerTimes> layers;
  std::vector<BucketTimes> buckets;
  Seconds update; // with decoding, which is done where the update happens
  program::NextForward next_forward{};
};

const plan::Planner& planner_of(const Scenario& scenario) {
  return plan::planner(scenario.communication.schedule);
}

program::NextForward next_forward_of(train::NextForward next) {
  return next == train::NextForward::barrier ? program::NextForward::barrier
                                             : program::NextForward::per_layer;
}

std::vector<LayerTimes> layer_times(const train::StepInput& step) {
  std::vector<LayerTimes> layers;
  for (std::size_t l = 0; l < step.forward_s.size(); ++l) {
    layers.push_back({.forward = {step.forward_s[l]},
                      .backward = {step.backward_s[l]},
                      .bytes = step.gradient_bytes[l]});
  }
  return layers;
}

// Of the start-up of an all-reduce each half has its share.
std::pair<ExchangeTime, ExchangeTime> halves(const train::Message& message, double startup_s) {
  const double whole = message.seconds + message.broadcast_s;
  const double first = whole > 0 ? startup_s * message.seconds / whole : 0;
  const double second = startup_s - first;
  return {{.startup = {first}, .data = {message.seconds - first}},
          {.startup = {second}, .data = {message.broadcast_s - second}}};
}

ProgramUnit unit_of(const Scenario& scenario, const plan::Group& group, BucketCost cost) {
  std::map<std::uint32_t, double> bytes;
  for (const std::uint32_t item : group.items) {
    if (item < scenario.workload.gradients.size()) {
      const train::Gradient& gradient = scenario.workload.gradients[item];
      bytes[gradient.layer] += static_cast<double>(gradient.bytes.value);
    }
  }
  ProgramUnit unit{.layers = {}, .layer_bytes = {}, .bytes = group.bytes, .cost = std::move(cost)};
  for (const auto& [layer, count] : bytes) {
    unit.layers.push_back(layer);
    unit.layer_bytes.push_back(count);
  }
  return unit;
}

// Plan, costs and times of a scenario: all but the program.
ProgramParts parts_of(const Scenario& scenario, ScenarioProgram& out) {
  const plan::Problem problem = merge_problem(scenario);
  out.plan = plan_of(scenario, problem);
  const plan::Schedule schedule = scenario.communication.schedule;
  BucketCosts costs(scenario, measured_curve(scenario));
  std::vector<MessageSeconds> seconds;
  ProgramParts parts;
  parts.update = scenario.training.update;
  for (const plan::Group& group : out.plan.groups) {
    const BucketCost cost = costs(group);
    seconds.push_back(message_seconds(problem, cost, schedule));
    parts.update += Seconds{cost.decode_s};
    out.units.push_back(unit_of(scenario, group, cost));
  }
  out.method = costs.method();
  out.events = costs.events();
  const train::StepInput step = step_input(scenario, out.plan, seconds, schedule);
  parts.layers = layer_times(step);
  parts.next_forward = next_forward_of(step.next_forward);
  const std::vector<train::MessageGate> gates = train::message_gates(step);
  for (std::size_t g = 0; g < step.messages.size(); ++g) {
    const train::Message& message = step.messages[g];
    const BucketCost& cost = out.units[g].cost;
    const auto [reduce, gather] = halves(message, startup_seconds(problem, cost.exchange_s()));
    // Delays of one layer's buckets follow each other: cycles that begin one after the other.
    const bool follows = g > 0 && gates[g].layer == gates[g - 1].layer;
    parts.buckets.push_back(
        {.layers = message.layers,
         .reduce = reduce,
         .gather = gather,
         .ready_after = gates[g].layer,
         .select = {cost.compress_s()},
         .encode = {cost.encode_s},
         .delay = {std::max(0.0, gates[g].delay_s - (follows ? gates[g - 1].delay_s : 0.0))},
         .bytes = static_cast<std::int64_t>(message.bytes)});
  }
  return parts;
}

std::string no_sync_program(const Scenario& scenario) {
  if (scenario.training.input.value > 0) {
    return "a program has no input_s yet";
  }
  // The update of the root stands on the compute stream, before the next forward of all layers.
  const auto& gradients = scenario.workload.gradients;
  const bool first_has_bytes = std::ranges::any_of(gradients, [](const train::Gradient& gradient) {
    return gradient.layer == 0 && gradient.bytes.value > 0;
  });
  if (scenario.communication.reduce_broadcast && !first_has_bytes) {
    return "a program of reduce_broadcast needs gradients in the first layer";
  }
  return "";
}

// How the stream of the schedule takes its messages.
program::Stream stream_of(const Scenario& scenario) {
  const plan::ScheduleOptions& options = scenario.communication.schedule_options;
  program::Stream stream{.name = "reduce"};
  if (planner_of(scenario).send == plan::planner(plan::Schedule::priority).send) {
    stream.discipline = program::Discipline::priority;
    stream.credit_bytes = options.credit_bytes.value;
  } else if (planner_of(scenario).send == plan::planner(plan::Schedule::asc_wfbp).send) {
    stream.discipline = program::Discipline::at_once;
    stream.concurrency = static_cast<std::int32_t>(options.concurrency);
    stream.contention = options.contention;
  }
  return stream;
}

program::Program make_sync(const Scenario& scenario, const ProgramParts& parts) {
  if (planner_of(scenario).gathers_back() && !parts.buckets.empty()) {
    const bool ahead = scenario.communication.schedule_options.prefetch == plan::Prefetch::one;
    return program::dear_program(
        parts.layers, parts.buckets,
        {.update = parts.update,
         .prefetch = ahead ? program::GatherPrefetch::one : program::GatherPrefetch::all,
         .next_forward = parts.next_forward});
  }
  if (scenario.communication.reduce_broadcast && !parts.buckets.empty()) {
    return program::reduce_broadcast_program(parts.layers, parts.buckets, parts.update,
                                             parts.next_forward);
  }
  return program::sync_sgd_program(
      parts.layers, parts.buckets,
      {.update = parts.update, .next_forward = parts.next_forward, .reduce = stream_of(scenario)});
}

std::string no_pipe_program(const Scenario& scenario) {
  if (!scenario.training.pipeline_width) {
    return "a program needs a pipeline_width, not optimal";
  }
  if (scenario.training.warmup_iterations > 0) {
    return "a program has no warmup_iterations yet";
  }
  if (!planner_of(scenario).one_channel()) {
    return "a program of pipe_sgd sends one message at a time";
  }
  return "";
}

program::Program make_pipe(const Scenario& scenario, const ProgramParts& parts) {
  // One worker without exchanges has nothing to run ahead of.
  const bool sends = std::ranges::any_of(parts.buckets, [](const BucketTimes& bucket) {
    return bucket.reduce.startup.value + bucket.reduce.data.value > 0;
  });
  const bool alone = scenario.cluster.ranks() == 1 && !sends;
  const std::int64_t width = alone ? 1 : *scenario.training.pipeline_width;
  program::Program made = program::pipe_sgd_program(parts.layers, parts.buckets, parts.update,
                                                    static_cast<std::int32_t>(width));
  made.interference.compute.fill(scenario.training.compute_slowdown);
  return made;
}

std::string no_server_program(const Scenario&) { return "parameter servers have no program yet"; }

struct ProgramRow {
  TrainingAlgorithm algorithm;
  std::string (*refusal)(const Scenario&); // empty where `make` can
  program::Program (*make)(const Scenario&, const ProgramParts&);
};
constexpr std::array kPrograms{
    ProgramRow{TrainingAlgorithm::sync_sgd, no_sync_program, make_sync},
    ProgramRow{TrainingAlgorithm::pipe_sgd, no_pipe_program, make_pipe},
    ProgramRow{TrainingAlgorithm::parameter_server, no_server_program, nullptr}};

const ProgramRow& row_of(const Scenario& scenario) {
  return *std::ranges::find(kPrograms, scenario.training.algorithm, &ProgramRow::algorithm);
}

// Layers of exchanges, which builders know as buckets.
void label_layers(const std::vector<ProgramUnit>& units, program::Program& program) {
  for (program::Operation& operation : program.operations) {
    if (operation.unit >= 0 && operation.first_layer < 0) {
      const ProgramUnit& unit = units[static_cast<std::size_t>(operation.unit)];
      if (!unit.layers.empty()) {
        operation.first_layer = static_cast<std::int32_t>(unit.layers.front());
        operation.last_layer = static_cast<std::int32_t>(unit.layers.back());
      }
    }
  }
}

} // namespace

std::string why_no_program(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  if (simulates_messages(scenario)) {
    return "a program has no messages that go through a simulated network one by one";
  }
  const coll::Compression& compression = communication.compression;
  if (is_compressed(scenario) && compression.select_stream == coll::SelectStream::side) {
    return "a program has no selection on a side stream yet";
  }
  if (is_compressed(scenario) && communication.schedule == plan::Schedule::horovod) {
    return "a program has no compression with the cycles of horovod yet";
  }
  return row_of(scenario).refusal(scenario);
}

ScenarioProgram scenario_program(const Scenario& scenario) {
  if (const std::string reason = why_no_program(scenario); !reason.empty()) {
    throw SimulationError(reason);
  }
  ScenarioProgram out;
  const ProgramParts parts = parts_of(scenario, out);
  out.program = row_of(scenario).make(scenario, parts);
  out.program.ranks = static_cast<std::uint32_t>(scenario.cluster.ranks());
  label_layers(out.units, out.program);
  program::check(out.program, scenario.name);
  return out;
}

} // namespace stepsim::study
