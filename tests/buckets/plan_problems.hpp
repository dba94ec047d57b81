#pragma once
// Merge problems for tests: from plain lists, and random ones from a seed. Also a plan as text:
// "{1}{2-3}{4}", items counted from 1 as in the literature.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "buckets/problem.hpp"

namespace stepsim::buckets::testing {

inline Problem problem_of(std::span<const double> ready_s, std::span<const double> bytes,
                          Cost cost) {
  Problem problem;
  problem.cost = std::move(cost);
  for (std::size_t i = 0; i < ready_s.size(); ++i) {
    Item item;
    item.ready = Seconds{ready_s[i]};
    item.bytes = Bytes{static_cast<std::int64_t>(bytes[i])};
    problem.items.push_back(item);
  }
  return problem;
}

inline Problem problem_of(std::initializer_list<double> ready_s,
                          std::initializer_list<double> bytes, Cost cost) {
  return problem_of(std::span(ready_s.begin(), ready_s.size()),
                    std::span(bytes.begin(), bytes.size()), std::move(cost));
}

inline Cost linear(double startup_s, double per_byte_s) {
  return {.base = LinearCost{startup_s, per_byte_s}};
}

inline std::string text_of(const Group& group) {
  std::string text = "{";
  for (std::size_t i = 0; i < group.items.size(); ++i) {
    const bool follows = i > 0 && group.items[i] == group.items[i - 1] + 1;
    const bool goes_on = i + 1 < group.items.size() && group.items[i + 1] == group.items[i] + 1;
    if (follows && goes_on) {
      continue;
    }
    if (i > 0) {
      text += follows ? '-' : ',';
    }
    text += std::to_string(group.items[i] + 1);
  }
  text += '}';
  return text;
}

inline std::string text_of(const Plan& plan) {
  std::string text;
  for (const Group& group : plan.groups) {
    text += text_of(group);
  }
  return text;
}

enum class CostKind { linear, table, curve };

struct RandomShape {
  std::int64_t min_items = 1;
  std::int64_t max_items = 12;
  CostKind cost = CostKind::linear;
  bool empty_items = false;
  bool repeated_ready = false;
  bool copies = false;
};

// Non-decreasing, with kinks, jumps and flat pieces, over sizes up to about `largest` bytes.
inline Cost random_table(base::RandomStream& random, double largest, double scale_s) {
  std::vector<std::pair<double, double>> points;
  const auto count = random.integer(2, 8);
  double bytes = 0;
  double seconds = scale_s * random.uniform(0.05, 1);
  for (std::int64_t i = 0; i < count; ++i) {
    bytes += std::ceil(largest * random.uniform(0.01, 0.5));
    points.emplace_back(bytes, seconds);
    seconds += random.integer(0, 2) == 0 ? 0 : scale_s * std::pow(random.uniform(), 3) * 2;
  }
  return {.base = make_table_cost(points).first};
}

// A staircase with a slope: a collective that changes its algorithm at some sizes.
inline Cost random_curve(base::RandomStream& random, double largest, double scale_s) {
  const double startup = scale_s * random.uniform(0.01, 0.5);
  const double per_byte = scale_s / largest * random.uniform();
  const double stair = largest * random.uniform(0.05, 0.5);
  const double height = startup * random.uniform();
  return {.base = CurveCost{[=](double bytes) {
            return startup + per_byte * bytes + height * std::floor(bytes / stair);
          }}};
}

// Backward takes 1 s; communication from a tenth of that to ten times as much, with any share of
// start-up; sizes exponential, near-equal, heavy-tailed or tiny.
inline Problem random_problem(base::RandomStream& random, const RandomShape& shape) {
  const auto count = static_cast<std::size_t>(random.integer(shape.min_items, shape.max_items));
  const auto size_kind = random.integer(0, 3);
  std::vector<double> ready;
  std::vector<double> bytes;
  double time = 0;
  double total = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool repeated = shape.repeated_ready && i > 0 && random.integer(0, 3) == 0;
    time += repeated ? 0 : random.uniform(0.1, 2) / static_cast<double>(count);
    ready.push_back(time);
    const double uniform = random.uniform();
    double size = 1;
    switch (size_kind) {
    case 0:
      size = 1 - 1e5 * std::log(1 - uniform);
      break;
    case 1:
      size = 1e5 * (1 + 0.05 * uniform);
      break;
    case 2:
      size = 10 * std::exp(12 * uniform);
      break;
    default:
      size = 1 + 3 * uniform;
      break;
    }
    const bool empty = shape.empty_items && random.integer(0, 4) == 0;
    bytes.push_back(empty ? 0 : std::floor(size));
    total += bytes.back();
  }
  const double communication = std::pow(10.0, random.uniform(-1, 1)); // seconds, no merging
  const double share = random.uniform();                              // of start-up in it
  const double largest = std::max(1.0, total);
  Cost cost;
  switch (shape.cost) {
  case CostKind::linear:
    cost = linear(communication * share / static_cast<double>(count),
                  communication * (1 - share) / largest);
    break;
  case CostKind::table:
    cost = random_table(random, largest, communication * (1.0 / static_cast<double>(count) + 0.2));
    break;
  case CostKind::curve:
    cost = random_curve(random, largest, communication);
    break;
  }
  if (shape.copies) {
    cost.copy_bandwidth_Bps = largest / random.uniform(0.01, 0.5);
  }
  Problem problem = problem_of(ready, bytes, cost);
  problem.channel_free = Seconds{random.integer(0, 1) == 0 ? 0 : random.uniform(0, 0.5)};
  return problem;
}

} // namespace stepsim::buckets::testing
