// The best merge against every end of every prefix, asked for in full.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <variant>
#include <vector>

#include "buckets/optimal.hpp"
#include "buckets/plan_problems.hpp"
#include "buckets/planners.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::base::RandomStream;

namespace {

std::string first_best_of_all(const Problem& problem) {
  const std::size_t count = problem.items.size();
  std::vector<double> finish(count + 1, problem.channel_free.value);
  std::vector<std::size_t> back(count + 1);
  for (std::size_t i = 1; i <= count; ++i) {
    double bytes = 0;
    std::vector<double> ends(i);
    for (std::size_t j = i; j-- > 0;) {
      bytes += static_cast<double>(problem.items[j].bytes.value);
      ends[j] = std::max(finish[j], problem.items[i - 1].ready.value) +
                problem.cost.seconds(bytes, i - j);
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (j == 0 || ends[j] < finish[i] * (1 - 1e-12)) {
        finish[i] = ends[j];
        back[i] = j;
      }
    }
  }
  std::string text;
  for (std::size_t end = count; end > 0; end = back[end]) {
    const std::string first = std::to_string(back[end] + 1);
    const std::string last = std::to_string(end);
    text = "{" + (first == last ? first : first + "-" + last) + "}" + text;
  }
  return text;
}

} // namespace

TEST_CASE("optimal: what a least cost lets it skip changes no choice, ties included") {
  const RandomShape shape{.max_items = 60, .repeated_ready = true};
  for (std::uint64_t instance = 0; instance < 300; ++instance) {
    CAPTURE(instance);
    RandomStream random({.seed = 2021, .point = instance});
    Problem problem = random_problem(random, shape);
    const double startup = 1e-3 * random.uniform(0, 40);
    const double per_byte = 1e-7 * std::pow(random.uniform(), 3);
    const double bend = random.integer(0, 1) == 0 ? 0 : 1e-5 * random.uniform();
    const double stair = random.integer(0, 1) == 0 ? 0 : 1e-3 * random.uniform();
    const auto seconds = [=](double bytes) {
      return startup + per_byte * bytes + bend * std::sqrt(bytes) +
             stair * std::abs(std::sin(bytes));
    };
    const auto line = [](double least_startup, double least_per_byte) {
      return [=](double, double) { return LinearCost{least_startup, least_per_byte}; };
    };
    // The line through the ends of a piece of the root is below it.
    const auto chord = [=](double low, double high) {
      const double slope =
          per_byte + bend * (std::sqrt(high) - std::sqrt(low)) / std::max(high - low, 1e-300);
      return LinearCost{startup + per_byte * low + bend * std::sqrt(low) - slope * low, slope};
    };
    using Least = std::function<LinearCost(double, double)>;
    for (const Least& least :
         {Least{}, Least{line(startup, 0)}, Least{line(startup, per_byte)}, Least{chord}}) {
      problem.cost = {.base = CurveCost{.seconds = seconds, .least = least},
                      .copy_bandwidth_Bps = random.integer(0, 2) == 0 ? 1e8 : 0};
      CHECK(text_of(make_plan(problem, Schedule::optimal)) == first_best_of_all(problem));
    }
  }
  for (const std::int64_t items : {std::int64_t{1}, std::int64_t{2}, std::int64_t{7},
                                   std::int64_t{40}}) { // all candidates are equal
    CAPTURE(items);
    const std::vector<double> ready(static_cast<std::size_t>(items), 1.0);
    const std::vector<double> bytes(static_cast<std::size_t>(items), 10.0);
    const auto least = [](double, double) { return LinearCost{0, 0.1}; };
    const Problem tied = problem_of(
        ready, bytes,
        {.base = CurveCost{.seconds = [](double size) { return 0.1 * size; }, .least = least}});
    CHECK(text_of(make_plan(tied, Schedule::optimal)) == first_best_of_all(tied));
  }
}

namespace {

// One of the constants, from a tenth to ten times, or 0.
double around(double value, RandomStream& random) {
  return random.integer(0, 9) == 0 ? 0.0 : value * std::pow(10, random.uniform(-1, 1));
}

} // namespace

TEST_CASE("optimal: the best prefix of all items ends as the best plan, by any linear cost") {
  const std::uint64_t seed = 8;
  for (std::uint64_t instance = 0; instance < 200; ++instance) {
    CAPTURE(instance);
    RandomStream random({.seed = seed, .point = instance});
    const RandomShape shape{
        .min_items = 1, .max_items = 40, .empty_items = true, .repeated_ready = true};
    Problem problem = random_problem(random, shape);
    problem.channel_free = {};
    Problem sent = problem;
    std::erase_if(sent.items, [](const Item& item) { return item.bytes.value == 0; });
    if (sent.items.empty()) {
      continue;
    }
    const auto base = std::get<LinearCost>(problem.cost.base);
    for (int k = 0; k < 32; ++k) {
      CAPTURE(k);
      const LinearCost cost{around(base.startup_s, random), around(base.per_byte_s, random)};
      problem.cost = {.base = cost};
      const std::vector<BestPrefix> best = best_prefixes(sent, cost);
      CHECK(std::max(best.back().finish_s, problem.items.back().ready.value) ==
            make_plan(problem, Schedule::optimal).finish.value);
    }
  }
}
