// The planners against two oracles: every contiguous partition, enumerated, and the published
// O(layers^2) form of the greedy, written down as the paper's code has it. The instances have ties,
// kinks, flat pieces, repeated ready times and empty items; each is a function of the seed and its
// number.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "buckets/plan_problems.hpp"
#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "buckets/problem.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Bytes;
using stepsim::Seconds;
using stepsim::base::RandomStream;

namespace {

constexpr std::uint64_t kSeed = 20190429;
// Two sums of the same numbers in another order: a few rounding errors of 1e-16 each.
constexpr double kTolerance = 1e-9;

bool equal(double a, double b) { return std::abs(a - b) <= kTolerance * std::abs(b); }
bool at_most(double a, double b) { return a <= b + kTolerance * std::abs(b); }

Problem instance_of(std::uint64_t purpose, std::uint64_t number, const RandomShape& shape) {
  RandomStream random({.seed = kSeed, .point = number, .purpose = purpose});
  return random_problem(random, shape);
}

RandomShape shape_of(CostKind cost) {
  return {
      .min_items = 1, .max_items = 12, .cost = cost, .empty_items = true, .repeated_ready = true};
}

// Small whole numbers: many exact ties between waits, start-ups and ends.
Problem lattice_problem(std::uint64_t number) {
  RandomStream random({.seed = kSeed, .point = number, .purpose = 9});
  const auto count = random.integer(1, 12);
  std::vector<double> ready;
  std::vector<double> bytes;
  double time = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    time += static_cast<double>(random.integer(0, 3));
    ready.push_back(time);
    bytes.push_back(static_cast<double>(random.integer(0, 4)));
  }
  return problem_of(
      ready, bytes,
      linear(static_cast<double>(random.integer(0, 3)), static_cast<double>(random.integer(0, 2))));
}

double finish_of(const Problem& problem, Schedule schedule) {
  return make_plan(problem, schedule).finish.value;
}

// MER 5.4 as published: layers in forward order, all starts computed anew after every merge.
class PublishedGreedy {
public:
  explicit PublishedGreedy(const Problem& problem)
      : cost_(std::get<LinearCost>(problem.cost.base)), free_(problem.channel_free.value) {
    for (auto item = problem.items.rbegin(); item != problem.items.rend(); ++item) {
      ready_.push_back(item->ready.value);
      bytes_.push_back(static_cast<double>(item->bytes.value));
      seconds_.push_back(cost_.startup_s + cost_.per_byte_s * bytes_.back());
    }
    merged_down_.resize(ready_.size());
    for (std::size_t l = ready_.size() - 1; l >= 1; --l) {
      if (ready_[l - 1] - starts()[l] < cost_.startup_s) {
        merge_down(l);
      }
    }
  }

  // Groups in backward order, items from 1.
  [[nodiscard]] std::string text() const {
    std::string text;
    const std::size_t count = ready_.size();
    for (std::size_t l = count; l-- > 0;) {
      const std::size_t first = count - l;
      while (merged_down_[l]) {
        --l;
      }
      const std::size_t last = count - l;
      text += '{';
      text += std::to_string(first);
      if (last > first) {
        text += '-';
        text += std::to_string(last);
      }
      text += '}';
    }
    return text;
  }

private:
  [[nodiscard]] std::vector<double> starts() const {
    std::vector<double> start(ready_.size());
    double free = free_;
    for (std::size_t l = ready_.size(); l-- > 0;) {
      start[l] = std::max(free, ready_[l]);
      free = start[l] + seconds_[l]; // 0 s for a layer merged down
    }
    return start;
  }

  void merge_down(std::size_t l) {
    merged_down_[l] = true;
    bytes_[l - 1] += bytes_[l];
    bytes_[l] = 0;
    seconds_[l] = 0;
    seconds_[l - 1] = cost_.startup_s + cost_.per_byte_s * bytes_[l - 1];
  }

  LinearCost cost_;
  double free_;
  std::vector<double> ready_; // index 0 = layer 1
  std::vector<double> bytes_;
  std::vector<double> seconds_;
  std::vector<bool> merged_down_;
};

} // namespace

TEST_CASE("optimal = exhaustive search on 10,000 instances, half of them with cost tables") {
  for (const auto kind : {CostKind::linear, CostKind::table}) {
    for (std::uint64_t number = 0; number < 5000; ++number) {
      RandomShape shape = shape_of(kind);
      shape.max_items = number % 20 == 0 ? 14 : 12;
      shape.copies = kind == CostKind::table && number % 4 == 0;
      const Problem problem = instance_of(1, number, shape);
      INFO("seed ", kSeed, ", instance ", number);
      CHECK(equal(finish_of(problem, Schedule::optimal), finish_of(problem, Schedule::exhaustive)));
    }
  }
}

TEST_CASE("optimal = exhaustive search on exact ties and on curves of bytes") {
  for (std::uint64_t number = 0; number < 2000; ++number) {
    CAPTURE(kSeed);
    CAPTURE(number);
    const Problem ties = lattice_problem(number);
    CHECK(finish_of(ties, Schedule::optimal) == finish_of(ties, Schedule::exhaustive));
    const Problem curve = instance_of(2, number, shape_of(CostKind::curve));
    CHECK(equal(finish_of(curve, Schedule::optimal), finish_of(curve, Schedule::exhaustive)));
  }
}

TEST_CASE("the linear-time optimum = the quadratic one, for up to 2,000 gradients") {
  // The same line given as a curve takes the quadratic path.
  const auto compare = [](Problem problem) {
    const double fast = finish_of(problem, Schedule::optimal);
    const auto line = std::get<LinearCost>(problem.cost.base);
    problem.cost.base =
        CurveCost{[line](double bytes) { return line.startup_s + line.per_byte_s * bytes; }};
    CHECK(equal(fast, finish_of(problem, Schedule::optimal)));
  };
  for (std::uint64_t number = 0; number < 2000; ++number) {
    CAPTURE(kSeed);
    CAPTURE(number);
    RandomShape shape = shape_of(CostKind::linear);
    shape.max_items = 60;
    compare(instance_of(3, number, shape));
  }
  for (const std::int64_t count : {200, 500, 1000, 2000}) {
    for (std::uint64_t number = 0; number < 8; ++number) {
      CAPTURE(count);
      CAPTURE(number);
      RandomShape shape = shape_of(CostKind::linear);
      shape.min_items = shape.max_items = count;
      compare(instance_of(4, number, shape));
    }
  }
}

TEST_CASE("linear cost: optimal <= greedy <= wfbp and single; certified means optimal") {
  int certified = 0;
  int suboptimal = 0;
  for (std::uint64_t number = 0; number < 8000; ++number) {
    INFO("seed ", kSeed, ", instance ", number);
    const Problem problem = instance_of(5, number, shape_of(CostKind::linear));
    const Plan greedy = make_plan(problem, Schedule::mg_wfbp);
    const double optimum = finish_of(problem, Schedule::optimal);
    const double best = finish_of(problem, Schedule::exhaustive);
    CHECK(at_most(optimum, greedy.finish.value));
    CHECK(at_most(greedy.finish.value, finish_of(problem, Schedule::wfbp)));
    CHECK(at_most(greedy.finish.value, finish_of(problem, Schedule::single)));
    CHECK(greedy.finish.value < 2 * best);
    const bool is_optimal = equal(greedy.finish.value, best);
    if (certified_optimal(problem, greedy)) {
      ++certified;
      CHECK(is_optimal);
    }
    suboptimal += is_optimal ? 0 : 1;
  }
  MESSAGE("greedy on 8,000 instances: certified optimal " << certified << ", sub-optimal "
                                                          << suboptimal);
  CHECK(certified >= 1000);
  CHECK(suboptimal >= 1000);
}

TEST_CASE("any cost: no planner and no setting of its options beats the optimum") {
  for (std::uint64_t number = 0; number < 3000; ++number) {
    INFO("seed ", kSeed, ", instance ", number);
    const CostKind kinds[] = {CostKind::linear, CostKind::table, CostKind::curve};
    RandomShape shape = shape_of(kinds[number % 3]);
    shape.copies = number % 2 == 0;
    const Problem problem = instance_of(6, number, shape);
    RandomStream random({.seed = kSeed, .point = number, .purpose = 7});
    const double optimum = finish_of(problem, Schedule::optimal);
    CHECK(at_most(finish_lower_bound(problem).value, optimum));
    for (const Planner& row : planners()) {
      if (row.needs != Needs::cost) {
        continue; // other disciplines
      }
      ScheduleOptions options;
      options.bucket_bytes = Bytes{random.integer(1, 1'000'000)};
      options.fusion_bytes = Bytes{random.integer(0, 1'000'000)};
      options.cycle = Seconds{random.uniform(0, 0.2)};
      options.blocking = random.integer(0, 1) == 1;
      options.ddp_mode = static_cast<DdpMode>(random.integer(0, 3));
      INFO("planner ", std::string(row.name));
      CHECK(at_most(optimum, make_plan(problem, row.schedule, options).finish.value));
    }
  }
}

TEST_CASE("the linear-time greedy makes the groups of the published quadratic form") {
  RandomShape shape = shape_of(CostKind::linear);
  shape.empty_items = false; // the published form knows none
  for (std::uint64_t number = 0; number < 5000; ++number) {
    CAPTURE(kSeed);
    CAPTURE(number);
    shape.max_items = number % 10 == 0 ? 100 : 12;
    const Problem problem = instance_of(8, number, shape);
    CHECK(text_of(make_plan(problem, Schedule::mg_wfbp)) == PublishedGreedy(problem).text());
  }
}
