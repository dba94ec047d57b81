// A plan is laid out once: which layers are computed as one, and behind which of them each bucket
// begins. A pass over both then gives the period, unless a bound says that it is too long anyway.
#include "run/program_memory.hpp"

#include <ranges>

#include "programs/event_pass.hpp"
#include "run/group_exchange.hpp"
#include "run/planned_messages.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

double slowdown_of(const Scenario& scenario, programs::Kind kind) {
  return scenario.training.overlap.compute[static_cast<std::size_t>(kind)];
}

// Whether both costs are the same a + b m.
bool same_line(const buckets::Cost& one, const buckets::Cost& other) {
  const auto* a = std::get_if<buckets::LinearCost>(&one.base);
  const auto* b = std::get_if<buckets::LinearCost>(&other.base);
  return a != nullptr && b != nullptr && one.is_linear() && other.is_linear() &&
         a->startup_s == b->startup_s && a->per_byte_s == b->per_byte_s;
}

// Whether both plans send the same items at the same times.
bool same_groups(const buckets::Plan& one, const buckets::Plan& other) {
  return std::ranges::equal(one.groups, other.groups, [](const auto& a, const auto& b) {
    return a.ready == b.ready && a.items == b.items;
  });
}

} // namespace

bool StepPeriod::is_for(const Scenario& scenario) {
  const Training& training = scenario.training;
  const Communication& communication = scenario.communication;
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  return training.algorithm == TrainingAlgorithm::sync_sgd && training.overlap.exchange == 1 &&
         training.input.value == 0 && training.wait.value == 0 && training.warmup_iterations == 0 &&
         !accumulates_or_shards(scenario) && !has_islands(training) &&
         scenario.other_jobs.empty() && exchanges(scenario) && !is_simulated(scenario) &&
         !simulates_messages(scenario) && !is_compressed(scenario) &&
         !scenario.variability.varies() && !scenario.workload.gradients.empty() &&
         !communication.reduce_broadcast && !communication.plan_cost &&
         planner.one_channel(communication.schedule_options) && planner.run != nullptr;
}

StepPeriod::StepPeriod(const Scenario& scenario, StepMemory& memory, const ScenarioProgram* timed)
    : scenario_(scenario), memory_(memory), timed_(timed) {
  buckets::Problem& problem = memory.problem;
  const bool fresh = problem.items.empty();
  const bool moved = fresh || memory.computing != scenario.conditions.computing;
  if (fresh) {
    problem.items = merge_items(scenario);
    memory.has_empty = std::ranges::any_of(
        problem.items, [](const buckets::Item& item) { return item.bytes.value == 0; });
    memory.has_types = std::ranges::any_of(
        problem.items, [](const buckets::Item& item) { return item.dtype != 0; });
  }
  if (moved) {
    memory.ends = scenario.workload.backward_ends();
    if (!fresh) {
      move_items(scenario, memory.ends, problem.items);
    }
    memory.forward_s = 0;
    for (const layers::WorkLayer& layer : scenario.workload.layers) {
      memory.forward_s += layer.forward.value;
    }
    memory.computing = scenario.conditions.computing;
  }
  bool costs_alike = timed != nullptr;
  if (timed == nullptr) {
    costs_.emplace(scenario, measured_curve(scenario));
    line_ = costs_->line();
    buckets::Cost cost = planned_cost(scenario);
    costs_alike = same_line(cost, problem.cost);
    problem.cost = std::move(cost);
    check_range(problem);
    startup_s_ = line_startups(scenario, problem.cost, std::numeric_limits<double>::max()).first;
  }
  for (auto& [merge, groups] : memory.groups) {
    groups.planned = groups.planned && !moved &&
                     (costs_alike || !buckets::planner(merge).plans_by_cost(
                                         scenario.communication.schedule_options));
    groups.laid = groups.laid && !moved;
  }
}

// Computing up to the gates of the buckets, which are those of lay() where it merges no layers.
double StepPeriod::estimate(const buckets::Plan& plan, double slowdown, double limit) const {
  programs::IdlePass pass;
  pass.compute(scenario_.training.update.value + memory_.forward_s, 1);
  const bool copies = scenario_.communication.copy_bandwidth_Bps > 0;
  double computed = 0; // of the backward
  for (const buckets::Group& group : plan.groups) {
    const bool waits = group.ready != memory_.problem.items[group.last()].ready;
    const programs::MessageGate gate =
        waits ? programs::message_gate(memory_.ends, group.ready.value) : programs::MessageGate{};
    const double end = waits ? memory_.ends[gate.layer].value : group.ready.value;
    pass.compute(std::max(0.0, end - computed), slowdown);
    computed = std::max(computed, end);
    pass.exchange(pass.now_s() + gate.delay_s, line_->at(static_cast<double>(group.bytes.value)) +
                                                   (copies ? copy_seconds(scenario_, group) : 0));
    if (pass.channel_s() > limit) {
      return pass.channel_s();
    }
  }
  pass.compute(memory_.ends.front().value - computed, slowdown);
  return pass.end_s();
}

// Whether the merge that `optimal` plans is the best one by the times of exchanges. Without a
// start-up ties of rounding would count.
bool StepPeriod::is_best() const {
  constexpr std::size_t kFew = 1000; // gradients: the rounding of sums is below 1e-13
  constexpr double kSame = 1e-14;
  const auto* cost = std::get_if<buckets::LinearCost>(&memory_.problem.cost.base);
  const auto same = [](double one, double other) { return std::abs(one - other) <= kSame * one; };
  return line_ && cost != nullptr && memory_.problem.cost.is_linear() && line_->startup_s > 0 &&
         same(line_->startup_s, cost->startup_s) && same(line_->per_byte_s, cost->per_byte_s) &&
         memory_.problem.items.size() < kFew && memory_.ends.size() < kFew && !memory_.has_types;
}

// A planner that reads no costs lets groups wait for their gradients and those before them, or its
// plan is kept only while computing stays as it is.
void StepPeriod::plan(buckets::Schedule merge, StepMemory::Groups& groups) const {
  if (std::exchange(groups.planned, true)) {
    return;
  }
  const bool kept = groups.in_line;
  if (!kept) {
    const buckets::Planner& planner = buckets::planner(merge);
    buckets::Plan plan = planner.run(memory_.problem, scenario_.communication.schedule_options);
    if (same_groups(plan, groups.plan)) {
      return;
    }
    groups.plan = std::move(plan);
    groups.in_line = !planner.reads_cost;
    groups.laid = false;
    buckets::count_bytes(memory_.problem, groups.plan);
  }
  Seconds ready;
  for (std::size_t g = 0; groups.in_line && g < groups.plan.groups.size(); ++g) {
    buckets::Group& group = groups.plan.groups[g];
    for (const std::uint32_t item : group.items) {
      ready = std::max(ready, memory_.problem.items[item].ready);
    }
    groups.in_line = kept || group.ready == ready;
    group.ready = groups.in_line ? ready : group.ready;
  }
}

// False where a layer waits for buckets that do not follow each other.
bool StepPeriod::lay(StepMemory::Groups& groups) const {
  const std::vector<layers::WorkLayer>& layers = scenario_.workload.layers;
  constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  struct Layer {
    std::uint32_t first = kNone, last = 0; // its buckets, if any
    bool begins = false;                   // its backward ends a run of merged ones
    std::uint32_t merged = 0;              // of the first layer of a run
  };
  std::vector<Layer> all(layers.size());
  Layer* const of = all.data();
  const buckets::Item* const items = memory_.problem.items.data();
  const std::vector<Seconds>& ends = memory_.ends;
  groups.gates.clear();
  for (const buckets::Group& group : groups.plan.groups) {
    const auto g = static_cast<std::uint32_t>(groups.gates.size());
    groups.gates.push_back(programs::message_gate(ends, group.ready.value));
    of[groups.gates.back().layer].begins = true;
    for (const std::uint32_t item : group.items) {
      Layer& layer = of[items[item].layer];
      if (layer.first == kNone) {
        layer.first = g;
      } else if (layer.last + 1 < g) {
        return false;
      }
      layer.last = g;
    }
  }
  groups.backward_s.resize(layers.size());
  double* const backward_s = groups.backward_s.data();
  double sum_s = 0;      // of a run of merged layers
  const Layer* run = of; // its first layer
  std::uint32_t count = 0;
  const layers::WorkLayer* const times = layers.data();
  for (std::size_t l = 0; l < all.size(); ++l) {
    Layer& layer = of[l];
    if (l > 0 && (layer.begins || layer.first < run->first || layer.last > run->last)) {
      backward_s[count++] = std::exchange(sum_s, 0);
      layer.merged = count;
      run = &layer;
    }
    sum_s += times[l].backward.value;
  }
  backward_s[count++] = sum_s;
  groups.merged = count;
  for (programs::MessageGate& each : groups.gates) {
    each.layer = of[each.layer].merged;
  }
  groups.laid = true;
  groups.alike = !groups.in_line        ? std::vector<std::uint32_t>()
                 : groups.alike.empty() ? alike(scenario_, groups.plan)
                                        : std::move(groups.alike);
  return true;
}

// Start-up and data are added as those of the operation in a program.
double StepPeriod::seconds(const StepMemory::Groups& groups, std::size_t place) {
  if (timed_ != nullptr) {
    const programs::ExchangeTime& time = timed_->units[place].exchange.time;
    return time.startup.value + time.data.value;
  }
  const buckets::Group& group = groups.plan.groups[place];
  const double timed = costs_->times(group.bytes).exchange_s();
  const double whole = timed + copy_seconds(scenario_, group);
  const double startup = std::min({startup_s_, timed, whole});
  return startup + (whole - startup);
}

std::optional<double> StepPeriod::estimate(buckets::Schedule merge, double limit) {
  constexpr double kLeastRounding = 5e-13, kFar = 1e-8;
  if (memory_.has_empty) {
    return std::nullopt;
  }
  if (!line_ || limit <= least_of_all_) {
    return line_ ? std::numeric_limits<double>::infinity() : 0;
  }
  if (merge == buckets::Schedule::mg_wfbp_small_tensors) {
    const StepMemory::Groups& greedy = memory_.groups[buckets::Schedule::mg_wfbp];
    if (greedy.planned && !buckets::merges_small_tensors(memory_.problem, greedy.plan)) {
      return std::numeric_limits<double>::infinity(); // the same merge
    }
  }
  StepMemory::Groups& groups = memory_.groups[merge];
  plan(merge, groups);
  if (merge == buckets::Schedule::optimal && is_best()) {
    least_of_all_ = estimate(groups.plan, 1, limit) * (1 + kLeastRounding);
  }
  const double slowdown = slowdown_of(scenario_, programs::Kind::backward);
  return begins_behind_all(groups.plan)
             ? std::optional(estimate(groups.plan, slowdown, limit * (1 + kFar)))
             : std::nullopt;
}

// Whether the next forward waits for the last bucket.
bool StepPeriod::begins_behind_all(const buckets::Plan& plan) const {
  return !plan.groups.empty() &&
         (scenario_.communication.next_forward == programs::NextForward::barrier ||
          std::ranges::any_of(
              plan.groups.back().items | std::views::reverse,
              [&](std::uint32_t item) { return memory_.problem.items[item].layer == 0; }));
}

std::optional<double> StepPeriod::operator()(buckets::Schedule merge, double limit) {
  using programs::Kind;
  if (memory_.has_empty) {
    return std::nullopt;
  }
  StepMemory::Groups& groups = memory_.groups[merge];
  plan(merge, groups);
  if (!begins_behind_all(groups.plan) || (!groups.laid && !lay(groups))) {
    return std::nullopt;
  }
  programs::IdlePass pass;
  pass.compute(scenario_.training.update.value, slowdown_of(scenario_, Kind::update));
  pass.compute(memory_.forward_s, slowdown_of(scenario_, Kind::forward));
  const double slowdown = slowdown_of(scenario_, Kind::backward);
  const std::size_t count = groups.gates.size();
  groups.ends_s.resize(groups.merged);
  groups.lasts_s.resize(count);
  double* const ends = groups.ends_s.data();
  double* const lasts = groups.lasts_s.data();
  const double* const backward_s = groups.backward_s.data();
  const std::uint32_t* const alike = groups.alike.empty() ? nullptr : groups.alike.data();
  std::size_t computed = groups.merged; // down to this layer
  const auto compute_to = [&](std::size_t layer) {
    while (computed > layer) {
      pass.compute(backward_s[--computed], slowdown);
      ends[computed] = pass.now_s();
    }
  };
  const programs::MessageGate* const gates = groups.gates.data();
  for (std::size_t g = 0; g < count; ++g) {
    const programs::MessageGate gate = gates[g];
    compute_to(gate.layer);
    lasts[g] = alike == nullptr || alike[g] == g ? seconds(groups, g) : lasts[alike[g]];
    pass.exchange(ends[gate.layer] + gate.delay_s, lasts[g]);
    if (pass.channel_s() >= limit) {
      return pass.channel_s();
    }
  }
  compute_to(0);
  return pass.end_s();
}

} // namespace stepsim::study
