// A plan is laid out once: which layers are computed as one, and behind which of them each bucket
// begins. A pass over both then gives the period, unless a bound says that it is too long anyway.
#include "run/program_memory.hpp"

#include <numeric>

#include "programs/event_pass.hpp"
#include "run/group_exchange.hpp"
#include "run/planned_messages.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

double slowdown_of(const Scenario& scenario, programs::Kind kind) {
  return scenario.training.overlap.compute[static_cast<std::size_t>(kind)];
}

} // namespace

bool StepPeriod::is_for(const Scenario& scenario) {
  const Training& training = scenario.training;
  const Communication& communication = scenario.communication;
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  return training.algorithm == TrainingAlgorithm::sync_sgd && training.overlap.any() &&
         training.overlap.exchange == 1 && training.input.value == 0 && training.wait.value == 0 &&
         training.warmup_iterations == 0 && !accumulates_or_shards(scenario) &&
         !has_islands(training) && scenario.other_jobs.empty() && exchanges(scenario) &&
         !is_simulated(scenario) && !simulates_messages(scenario) && !is_compressed(scenario) &&
         !scenario.variability.varies() && !scenario.workload.gradients.empty() &&
         !communication.reduce_broadcast && !communication.plan_cost &&
         planner.one_channel(communication.schedule_options) && planner.run != nullptr;
}

StepPeriod::StepPeriod(const Scenario& scenario, StepMemory& memory, const ScenarioProgram* timed)
    : scenario_(scenario), memory_(memory), timed_(timed) {
  buckets::Problem& problem = memory.problem;
  const bool fresh = problem.items.empty();
  if (fresh) {
    problem.items = merge_items(scenario);
    memory.has_empty = std::ranges::any_of(
        problem.items, [](const buckets::Item& item) { return item.bytes.value == 0; });
  }
  if (fresh || memory.computing != scenario.conditions.computing) {
    memory.ends = scenario.workload.backward_ends();
    if (!fresh) {
      move_items(scenario, memory.ends, problem.items);
    }
    memory.forward_s = 0;
    for (const layers::WorkLayer& layer : scenario.workload.layers) {
      memory.forward_s += layer.forward.value;
    }
    memory.computing = scenario.conditions.computing;
    for (auto& [merge, groups] : memory.groups) {
      groups.laid = false;
    }
  }
  if (timed == nullptr) {
    costs_.emplace(scenario, measured_curve(scenario));
    line_ = costs_->line();
    problem.cost = planned_cost(scenario);
    check_range(problem);
  }
}

// The end if nothing slowed computing, which is no later; 0 where exchanges have no line.
double StepPeriod::least(const buckets::Plan& plan) const {
  const double begin = scenario_.training.update.value + memory_.forward_s;
  double end = 0;
  for (const buckets::Group& group : plan.groups) {
    end = std::max(end, begin + group.ready.value) +
          (line_ ? line_->at(static_cast<double>(group.bytes.value)) : 0);
  }
  return line_ ? end : 0;
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
         memory_.problem.items.size() < kFew && memory_.ends.size() < kFew &&
         std::ranges::all_of(memory_.problem.items,
                             [](const buckets::Item& item) { return item.dtype == 0; });
}

// A planner that reads no costs lets groups wait for their gradients and those before them, or its
// plan is not kept.
void StepPeriod::plan(buckets::Schedule merge, StepMemory::Groups& groups) const {
  const bool kept = groups.in_line;
  if (!kept) {
    const buckets::Planner& planner = buckets::planner(merge);
    groups.plan = planner.run(memory_.problem, scenario_.communication.schedule_options);
    buckets::count_bytes(memory_.problem, groups.plan);
    groups.in_line = !planner.reads_cost;
    groups.laid = false;
  }
  Seconds ready;
  for (std::size_t g = 0; groups.in_line && !groups.laid && g < groups.plan.groups.size(); ++g) {
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
  struct Layer {
    bool begins = false;               // its backward ends a run of merged ones
    std::uint32_t first = 1, last = 0; // its buckets, if any
    std::uint32_t merged = 0;
  };
  std::vector<Layer> all(layers.size());
  Layer* const of = all.data();
  const buckets::Item* const items = memory_.problem.items.data();
  const std::vector<Seconds>& ends = memory_.ends;
  const auto last = static_cast<std::uint32_t>(ends.size() - 1);
  std::uint32_t gate = last; // as message_gate() finds it, from that of the group before
  Seconds before;
  groups.gates.clear();
  for (const buckets::Group& group : groups.plan.groups) {
    const auto g = static_cast<std::uint32_t>(groups.gates.size());
    gate = group.ready < before ? last : gate;
    before = group.ready;
    for (; gate > 0 && programs::ends_by(ends[gate - 1], before.value); --gate) {}
    groups.gates.push_back({gate, std::max(0.0, before.value - ends[gate].value)});
    of[gate].begins = true;
    for (const std::uint32_t item : group.items) {
      Layer& layer = of[items[item].layer];
      const bool is_first = layer.first > layer.last;
      if (!is_first && layer.last + 1 < g) {
        return false;
      }
      layer.first = is_first ? g : layer.first;
      layer.last = g;
    }
  }
  groups.backward_s.clear();
  const Layer* run = of; // its first layer
  double backward_s = 0; // of its layers
  std::uint32_t count = 0;
  const layers::WorkLayer* const times = layers.data();
  for (std::size_t l = 0; l < all.size(); ++l) {
    Layer& layer = of[l];
    const bool waits = layer.first <= layer.last;
    if (l > 0 &&
        (layer.begins || (waits && (layer.first < run->first || layer.last > run->last)))) {
      groups.backward_s.push_back(backward_s);
      backward_s = 0;
      run = &layer;
      ++count;
    }
    layer.merged = count;
    backward_s += times[l].backward.value;
  }
  groups.backward_s.push_back(backward_s);
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
  const double startup =
      std::min(line_startups(scenario_, memory_.problem.cost, timed).first, whole);
  return startup + (whole - startup);
}

std::optional<double> StepPeriod::operator()(buckets::Schedule merge, double limit) {
  using programs::Kind;
  constexpr double kRounding = 1e-9, kLeastRounding = 3e-13;
  if (memory_.has_empty || limit <= least_of_all_) {
    return memory_.has_empty ? std::nullopt : std::optional(limit);
  }
  StepMemory::Groups& groups = memory_.groups[merge];
  plan(merge, groups);
  const std::size_t count = groups.plan.groups.size();
  const bool bounded = limit < std::numeric_limits<double>::infinity();
  const bool optimal = merge == buckets::Schedule::optimal;
  const double bound = bounded || optimal ? least(groups.plan) : 0;
  if (bound * (1 - kRounding) >= limit) {
    return limit;
  }
  const auto of_first_layer = [&](std::uint32_t item) {
    return memory_.problem.items[item].layer == 0;
  };
  if (count == 0 || (scenario_.communication.next_forward != programs::NextForward::barrier &&
                     std::ranges::none_of(groups.plan.groups.back().items, of_first_layer))) {
    return std::nullopt;
  }
  if (!groups.laid && !lay(groups)) {
    return std::nullopt;
  }
  if (optimal && is_best()) {
    least_of_all_ = bound * (1 - kLeastRounding);
  }
  programs::IdlePass pass;
  pass.compute(scenario_.training.update.value, slowdown_of(scenario_, Kind::update));
  pass.compute(memory_.forward_s, slowdown_of(scenario_, Kind::forward));
  const double slowdown = slowdown_of(scenario_, Kind::backward);
  std::vector<double>& ends = groups.ends_s;
  std::vector<double>& lasts = groups.lasts_s;
  ends.resize(groups.backward_s.size());
  lasts.resize(count);
  std::size_t next = 0;
  for (std::size_t layer = ends.size(); layer-- > 0;) {
    pass.compute(groups.backward_s[layer], slowdown);
    ends[layer] = pass.now_s();
    for (; next < count && groups.gates[next].layer >= layer; ++next) {
      const programs::MessageGate& gate = groups.gates[next];
      const std::size_t like = groups.alike.empty() ? next : groups.alike[next];
      lasts[next] = like == next ? seconds(groups, next) : lasts[like];
      pass.exchange(ends[gate.layer] + gate.delay_s, lasts[next]);
      if (pass.channel_s() >= limit) {
        return pass.channel_s();
      }
    }
  }
  return pass.end_s();
}

} // namespace stepsim::study
