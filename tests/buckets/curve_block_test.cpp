// The best merges of many lanes against plan_optimal() of each cost, choice by choice.
#include "buckets/curve_block.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "buckets/plan_problems.hpp"
#include "buckets/planners.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::base::RandomStream;

namespace {

// startup + per_byte n + bend sqrt(n) + stair |sin n|, with or without a start-up.
struct LaneCurve {
  double startup{}, per_byte{}, bend{}, stair{};
  [[nodiscard]] double least(double bytes) const {
    return startup + per_byte * bytes + bend * std::sqrt(bytes);
  }
  [[nodiscard]] double at(double bytes) const {
    return least(bytes) + stair * std::abs(std::sin(bytes));
  }
};

LaneCurve random_curve(RandomStream& random) {
  return {.startup = random.integer(0, 4) == 0 ? 0 : 1e-3 * random.uniform(0, 40),
          .per_byte = 1e-7 * std::pow(random.uniform(), 3),
          .bend = random.integer(0, 1) == 0 ? 0 : 1e-5 * random.uniform(),
          .stair = random.integer(0, 1) == 0 ? 0 : 1e-3 * random.uniform()};
}

} // namespace

TEST_CASE("curve block: every lane has the choices of the best plan of its cost") {
  const RandomShape shape{
      .min_items = 1, .max_items = 40, .empty_items = true, .repeated_ready = true};
  for (std::uint64_t instance = 0; instance < 200; ++instance) {
    CAPTURE(instance);
    RandomStream random({.seed = 2026, .point = instance});
    Problem problem = random_problem(random, shape);
    const BatchItems items = batch_items(problem);
    if (items.size() == 0) {
      continue;
    }
    const bool alike = random.integer(0, 1) == 0; // lanes that differ little, or in all
    std::vector<LaneCurve> curves;
    for (std::size_t k = 0; k < kBatchLanes; ++k) {
      curves.push_back(alike && k > 0 ? curves.front() : random_curve(random));
      curves.back().per_byte *= alike ? 1 + 0.01 * static_cast<double>(k) : 1;
    }
    const bool tells = random.integer(0, 3) > 0; // lower bounds other than 0
    const LaneCurves cost{
        .seconds =
            [&](double bytes, BatchLanes& seconds, BatchLanes& tag) {
              for (std::size_t k = 0; k < kBatchLanes; ++k) {
                seconds[k] = curves[k].at(bytes);
                tag[k] = bytes;
              }
            },
        .least_lines =
            [&](double low, double high, BatchLanes& startup, BatchLanes& per_byte) {
              for (std::size_t k = 0; k < kBatchLanes; ++k) {
                const double from = curves[k].least(low);
                const double to = curves[k].least(high);
                per_byte[k] = tells && high > low ? (to - from) / (high - low) : 0;
                startup[k] = tells ? from - per_byte[k] * low : 0;
              }
            }};
    CurveBlock block(items);
    block.run(cost);
    block.run(cost); // nothing is left of an earlier run
    for (std::size_t k = 0; k < kBatchLanes; ++k) {
      CAPTURE(k);
      problem.cost = {.base = CurveCost{.seconds = [&](double bytes) {
                        return bytes > 0 ? curves[k].at(bytes) : 0.0;
                      }}};
      const Plan plan = make_plan(problem, Schedule::optimal);
      std::size_t end = items.size();
      for (std::size_t g = plan.groups.size(); g-- > 0;) {
        const auto bytes = static_cast<double>(plan.groups[g].bytes.value);
        CHECK(block.finish_s()[end][k] == plan.groups[g].end.value);
        CHECK(block.item_end_s()[end - 1][k] == plan.groups[g].end.value);
        CHECK(block.tag(end, k) == bytes);
        const auto begin = static_cast<std::size_t>(block.back(end, k));
        CHECK(items.prefix_bytes[end] - items.prefix_bytes[begin] == bytes);
        end = begin;
      }
      CHECK(end == 0);
    }
  }
}
