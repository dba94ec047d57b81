#pragma once
// One training step for tests of disciplines: layers in forward order, the messages that a schedule
// makes of their gradients, when they travel, and the period from one start of backward to the
// next.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "buckets/plan_problems.hpp"
#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "buckets/sending.hpp"

namespace stepsim::buckets::testing {

struct Layers { // forward order
  std::vector<double> forward, backward, bytes;
  double startup{}, per_byte{};

  [[nodiscard]] double forward_s() const {
    return std::accumulate(forward.begin(), forward.end(), 0.0);
  }
  [[nodiscard]] double backward_s() const {
    return std::accumulate(backward.begin(), backward.end(), 0.0);
  }
};

inline Problem problem_of(const Layers& layers) {
  std::vector<double> ready;
  std::vector<double> bytes;
  double t = 0;
  for (std::size_t l = layers.bytes.size(); l-- > 0;) {
    t += layers.backward[l];
    ready.push_back(t);
    bytes.push_back(layers.bytes[l]);
  }
  Problem problem = problem_of(ready, bytes, linear(layers.startup, layers.per_byte));
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    problem.items[i].layer = static_cast<std::uint32_t>(problem.items.size() - 1 - i);
  }
  return problem;
}

struct Step {
  Plan plan;
  Sending sending;
  SendTimes times;
  std::vector<double> done; // [layer]
  double period{};
};

// t = t_b; for each layer: t = max(t, done(l)) + t_f(l).
inline double period_of(const Layers& layers, const std::vector<double>& done) {
  double t = layers.backward_s();
  for (std::size_t l = 0; l < done.size(); ++l) {
    t = std::max(t, done[l]) + layers.forward[l];
  }
  return t;
}

inline Step step_of(const Layers& layers, Schedule schedule, const ScheduleOptions& options = {}) {
  const Problem problem = problem_of(layers);
  const Planner& row = planner(schedule);
  Step step;
  step.plan = make_plan(problem, schedule, options);
  step.sending.options = options;
  std::vector<double> ready;
  for (const Group& group : step.plan.groups) {
    const auto bytes = static_cast<double>(group.bytes.value);
    step.sending.transfers.push_back(
        {.bytes = bytes, .startup_s = layers.startup, .data_s = layers.per_byte * bytes});
    ready.push_back(group.ready.value);
  }
  row.send(step.sending, {.ready_s = ready}, step.times);
  step.done.assign(layers.bytes.size(), 0.0);
  for (std::size_t g = 0; g < step.plan.groups.size(); ++g) {
    for (const std::uint32_t item : step.plan.groups[g].items) {
      if (problem.items[item].bytes.value > 0) {
        double& done = step.done[problem.items[item].layer];
        done = std::max(done, step.times.end_s[g]);
      }
    }
  }
  step.period = period_of(layers, step.done);
  return step;
}

inline Layers random_layers(base::RandomStream& random, std::int64_t most, bool empty = false) {
  Layers layers;
  const auto count = random.integer(1, most);
  for (std::int64_t l = 0; l < count; ++l) {
    layers.forward.push_back(random.uniform(0, 2));
    layers.backward.push_back(random.uniform(0, 4));
    layers.bytes.push_back(static_cast<double>(random.integer(empty ? 0 : 1, 40)));
  }
  layers.startup = random.integer(0, 2) == 0 ? 0 : random.uniform(0, 2);
  layers.per_byte = random.uniform(0, 0.3);
  return layers;
}

} // namespace stepsim::buckets::testing
