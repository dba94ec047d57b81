// From a plan to the messages of a step: which schedule sends them, in which phases, by the cost
// that planners see or by what the evaluators say.
#include "run/planned_messages.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "coll/compress/compressed_exchange.hpp"
#include "coll/compress/compressed_time.hpp"
#include "plan/omgs.hpp"
#include "plan/planners.hpp"
#include "run/bucket_cost.hpp"

namespace stepsim::study {

namespace {

// Where nothing is sent nothing waits for its turn: groups are ready when their gradients are.
void wait_for_gradients_only(const plan::Problem& problem, plan::Plan& plan) {
  for (plan::Group& group : plan.groups) {
    group.ready = {};
    for (const std::uint32_t item : group.items) {
      group.ready = std::max(group.ready, problem.items[item].ready);
    }
  }
}

// OMGS counts selection, too, so its groups come from more than the cost of messages. Sizes are
// bytes here: both costs are functions of them.
plan::Plan omgs_plan(const Scenario& scenario, const plan::Problem& problem) {
  const coll::Compression& compression = scenario.communication.compression;
  const coll::Collective base = exchange_of(scenario);
  const plan::SparseCost cost{
      .select_s =
          [&](double bytes) {
            plan::Group group;
            group.bytes = Bytes{static_cast<std::int64_t>(bytes)};
            const coll::CompressedExchange exchange =
                coll::compressed_exchange(compression, gradient_part(scenario, group), base);
            return coll::compress_times(compression, exchange, base.ranks).compress_s();
          },
      .exchange_s = [&](double bytes) { return problem.cost.seconds(bytes, 1); }};
  std::vector<plan::SparseItem> items;
  double ready = 0;
  for (const plan::Item& item : problem.items) {
    items.push_back({item.ready.value - ready, static_cast<double>(item.bytes.value)});
    ready = item.ready.value;
  }
  const auto stream = compression.select_stream == coll::SelectStream::side
                          ? plan::SelectStream::side
                          : plan::SelectStream::compute;
  return plan::plan_of_runs(problem, plan::omgs_groups(items, cost, stream));
}

} // namespace

// Every byte is read and written on its way in and on its way out: four passes over memory. A
// message with one gradient is sent from where it lies.
double copy_seconds(const Scenario& scenario, const plan::Group& group) {
  const double rate = scenario.communication.copy_bandwidth_Bps;
  if (rate <= 0) {
    return 0;
  }
  const auto merged = std::ranges::count_if(group.items, [&](std::uint32_t item) {
    return scenario.workload.gradients[item].bytes.value > 0;
  });
  return merged > 1 && exchanges(scenario) ? 4 * static_cast<double>(group.bytes.value) / rate
                                           : 0.0;
}

// The worst case of any planner: every gradient in a message of its own, one after the other.
void check_range(const plan::Problem& problem) {
  double end = problem.items.empty() ? 0 : problem.items.back().ready.value;
  for (const plan::Item& item : problem.items) {
    const auto* linear = std::get_if<plan::LinearCost>(&problem.cost.base);
    const auto bytes = static_cast<double>(item.bytes.value);
    end += linear != nullptr && bytes > 0 ? linear->startup_s + linear->per_byte_s * bytes : 0;
  }
  if (!std::isfinite(end)) {
    throw SimulationError(std::string(kBeyondNumbers));
  }
}

plan::Problem planned_problem(const Scenario& scenario) {
  plan::Problem problem = merge_problem(scenario);
  const plan::Planner& planner = plan::planner(scenario.communication.schedule);
  if (is_simulated(scenario) && planner.needs_linear_cost() && !problem.cost.is_linear()) {
    problem.cost = {.base = plan::LinearCost{}};
  }
  return problem;
}

plan::Plan plan_of(const Scenario& scenario, const plan::Problem& problem) {
  check_range(problem); // planners compare times
  const Communication& communication = scenario.communication;
  std::optional<plan::Problem> other; // not copied where planners see the cost of the run
  if (communication.plan_cost) {
    other = as_planned(scenario, problem);
    check_range(*other);
  }
  const plan::Problem& planned = other ? *other : problem;
  plan::Plan plan =
      communication.schedule == plan::Schedule::omgs
          ? omgs_plan(scenario, planned)
          : plan::make_plan(planned, communication.schedule, communication.schedule_options);
  if (!exchanges(scenario)) {
    wait_for_gradients_only(problem, plan);
  }
  return plan;
}

bool has_all_gathers(const Scenario& scenario) {
  return plan::planner(scenario.communication.schedule).gathers_back();
}

// The reduce-scatter and the all-gather of a ring are collectives that evaluators know, and their
// times add up to that of its all-reduce. Measured curves and printed forms only know the whole.
bool splits_exchange(const Scenario& scenario) {
  const Communication& communication = scenario.communication;
  return has_all_gathers(scenario) && !is_compressed(scenario) && !scenario.cluster.network.curve &&
         !communication.calibrated && communication.collective == coll::AlgorithmId::ring &&
         communication.options.cost_form == coll::CostForm::exact &&
         !communication.options.ring_startup_2p;
}

std::vector<MessageSeconds> planned_seconds(const Scenario& scenario, const plan::Problem& problem,
                                            const plan::Plan& plan, plan::Schedule schedule) {
  // The cost of a problem also holds copies, which would be counted twice otherwise.
  const plan::Cost cost{.base = problem.cost.base}; // copies are added by step_input
  const plan::Planner& row = plan::planner(schedule);
  plan::Cost back;
  const bool splits = row.gathers_back() && splits_exchange(scenario);
  if (splits) {
    coll::Collective gather = exchange_of(scenario);
    gather.op = coll::Op::allgather;
    back = train::planner_cost(gather);
  }
  std::vector<MessageSeconds> seconds;
  for (const plan::Group& group : plan.groups) {
    const auto bytes = static_cast<double>(group.bytes.value);
    MessageSeconds& message = seconds.emplace_back();
    message.exchange = cost.seconds(bytes, 1);
    if (row.needs_linear_cost()) {
      message.startup = startup_seconds(problem, message.exchange);
    } else if (row.gathers_back()) {
      message.broadcast = splits ? back.seconds(bytes, 1) : message.exchange / 2;
      message.exchange -= message.broadcast;
    }
  }
  return seconds;
}

MessageSeconds message_seconds(const plan::Problem& problem, const BucketCost& cost,
                               plan::Schedule schedule) {
  const bool phases = plan::planner(schedule).needs_linear_cost();
  return {.exchange = cost.exchange_s(),
          .broadcast = cost.broadcast_s,
          .startup = phases ? startup_seconds(problem, cost.exchange_s()) : 0.0};
}

// Never more than the whole message, which may be cheaper than a + b m where it has no bytes.
double startup_seconds(const plan::Problem& problem, double seconds) {
  const auto* linear = std::get_if<plan::LinearCost>(&problem.cost.base);
  return linear != nullptr ? std::min(linear->startup_s, seconds) : 0.0;
}

train::StepInput step_input(const Scenario& scenario, const plan::Plan& plan,
                            std::span<const MessageSeconds> seconds, plan::Schedule schedule) {
  train::StepInput input = with_messages(step_input(scenario), scenario, plan, schedule);
  set_times(scenario, plan, seconds, input);
  return input;
}

train::StepInput with_messages(train::StepInput step, const Scenario& scenario,
                               const plan::Plan& plan, plan::Schedule schedule) {
  step.send = plan::planner(schedule).send;
  step.schedule_options = scenario.communication.schedule_options;
  step.all_gathers = plan::planner(schedule).gathers_back();
  step.messages.reserve(plan.groups.size());
  for (const plan::Group& group : plan.groups) {
    train::Message& message = step.messages.emplace_back();
    message.bytes = static_cast<double>(group.bytes.value);
    message.ready_s = group.ready.value;
    for (const std::uint32_t item : group.items) {
      const train::Gradient& gradient = scenario.workload.gradients[item];
      const bool is_new = message.layers.empty() || message.layers.back() != gradient.layer;
      if (gradient.bytes.value > 0 && is_new) { // nothing waits for an empty gradient
        message.layers.push_back(gradient.layer);
      }
    }
  }
  return step;
}

void set_times(const Scenario& scenario, const plan::Plan& plan,
               std::span<const MessageSeconds> seconds, train::StepInput& step) {
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const double copies = copy_seconds(scenario, plan.groups[g]);
    train::Message& message = step.messages[g];
    message.seconds = seconds[g].exchange + (step.all_gathers ? copies / 2 : copies);
    message.broadcast_s = seconds[g].broadcast + (step.all_gathers ? copies / 2 : 0);
    message.startup_s = seconds[g].startup;
  }
}

train::StepInput step_input(const Scenario& scenario) {
  train::StepInput input;
  const train::Workload& workload = scenario.workload;
  input.forward_s.reserve(workload.layers.size());
  input.backward_s.reserve(workload.layers.size());
  for (const train::WorkLayer& layer : workload.layers) {
    input.forward_s.push_back(layer.forward.value);
    input.backward_s.push_back(layer.backward.value);
  }
  input.gradient_bytes.assign(workload.layers.size(), 0);
  for (const train::Gradient& gradient : workload.gradients) {
    input.gradient_bytes[gradient.layer] += static_cast<double>(gradient.bytes.value);
  }
  const Communication& communication = scenario.communication;
  input.update_s = scenario.training.update.value;
  input.input_s = scenario.training.input.value;
  input.input_pipelined = scenario.training.input_pipelined;
  input.next_forward = communication.next_forward;
  input.reduce_broadcast = communication.reduce_broadcast;
  // Without overlap the three phases follow each other for the model as a whole: everything is
  // reduced, the root updates, everything is broadcast. No layer can start before the last of them
  // ends.
  if (communication.reduce_broadcast && !communication.overlap_backward) {
    input.next_forward = train::NextForward::barrier;
  }
  return input;
}

} // namespace stepsim::study
