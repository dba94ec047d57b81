// What must hold for every planner on any merge problem; random instances, the seed is printed.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "buckets/plan_problems.hpp"
#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "buckets/problem.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Bytes;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::within;

namespace {

constexpr std::uint64_t kSeed = 2021;

// Runs `check(problem, random)` on `count` instances.
template <class Check>
void for_random_problems(std::uint64_t purpose, std::uint64_t count, const RandomShape& shape,
                         Check check) {
  for (std::uint64_t instance = 0; instance < count; ++instance) {
    INFO("seed ", kSeed, ", purpose ", purpose, ", instance ", instance);
    RandomStream random({.seed = kSeed, .point = instance, .purpose = purpose});
    const Problem problem = random_problem(random, shape);
    check(problem, random);
  }
}

RandomShape any_shape(CostKind cost) {
  return {
      .min_items = 1, .max_items = 12, .cost = cost, .empty_items = true, .repeated_ready = true};
}

// A planner with options that make its rule bite on the random instances.
struct Setting {
  Schedule schedule;
  ScheduleOptions options;
  std::string name;
};

std::vector<Setting> settings_of(const Problem& problem, RandomStream& random) {
  std::int64_t total = 0;
  for (const Item& item : problem.items) {
    total += item.bytes.value;
  }
  std::vector<Setting> settings;
  for (const Planner& row : planners()) {
    if (row.schedule == Schedule::exhaustive || row.needs != Needs::cost) {
      continue;
    }
    ScheduleOptions options;
    options.bucket_bytes = Bytes{1 + random.integer(0, total)};
    options.fusion_bytes = Bytes{random.integer(0, total)};
    options.cycle = Seconds{random.uniform(0, 0.3)};
    options.phase = Seconds{random.uniform(0, 0.3)};
    settings.push_back({row.schedule, options, std::string(row.name)});
    if (row.schedule == Schedule::ddp) {
      for (const auto mode :
           {DdpMode::first_iteration, DdpMode::unused_parameters, DdpMode::last_small}) {
        options.ddp_mode = mode;
        settings.push_back({row.schedule, options, "ddp, another mode"});
      }
    }
    if (row.schedule == Schedule::horovod) {
      options.blocking = true;
      settings.push_back({row.schedule, options, "horovod, blocking"});
    }
  }
  return settings;
}

Plan plan_of(const Problem& problem, const Setting& setting) {
  return make_plan(problem, setting.schedule, setting.options);
}

double finish_of(const Problem& problem, Schedule schedule, const ScheduleOptions& options = {}) {
  return make_plan(problem, schedule, options).finish.value;
}

bool at_most(double a, double b) { return a <= b * (1 + 1e-9); }

void check_times(const Problem& problem, const Plan& plan) {
  double free = problem.channel_free.value;
  for (const Group& group : plan.groups) {
    double bytes = 0;
    std::size_t with_bytes = 0;
    double ready = 0;
    for (const std::uint32_t item : group.items) {
      if (problem.items[item].bytes.value > 0) {
        bytes += static_cast<double>(problem.items[item].bytes.value);
        ready = std::max(ready, problem.items[item].ready.value);
        ++with_bytes;
      }
    }
    CHECK(static_cast<double>(group.bytes.value) == bytes);
    CHECK(group.ready.value >= ready);
    CHECK(group.start.value == std::max(free, group.ready.value));
    CHECK(group.end.value == group.start.value + problem.cost.seconds(bytes, with_bytes));
    CHECK(std::is_sorted(group.items.begin(), group.items.end()));
    free = group.end.value;
  }
  const double last_ready = problem.items.back().ready.value;
  CHECK(plan.finish.value == (plan.groups.empty() ? last_ready : std::max(free, last_ready)));
}

} // namespace

TEST_CASE("every planner: every item in exactly one group, times as by hand, bounds respected") {
  for (const auto kind : {CostKind::linear, CostKind::table, CostKind::curve}) {
    for (const bool copies : {false, true}) {
      RandomShape shape = any_shape(kind);
      shape.copies = copies;
      for_random_problems(1, 150, shape, [](const Problem& problem, RandomStream& random) {
        const double optimum = finish_of(problem, Schedule::optimal);
        const double bound = finish_lower_bound(problem).value;
        CHECK(at_most(bound, optimum));
        for (const Setting& setting : settings_of(problem, random)) {
          CAPTURE(setting.name);
          const Plan plan = plan_of(problem, setting);
          check_times(problem, plan);
          CHECK(at_most(optimum, plan.finish.value));
          std::vector<int> seen(problem.items.size());
          for (const Group& group : plan.groups) {
            for (const std::uint32_t item : group.items) {
              ++seen[item];
            }
          }
          const int times = plan.groups.empty() ? 0 : 1;
          CHECK(seen == std::vector<int>(problem.items.size(), times));
        }
      });
    }
  }
}

TEST_CASE("linear cost: optimum <= greedy < 2 optimum, greedy <= wfbp and single") {
  for_random_problems(2, 500, any_shape(CostKind::linear), [](const Problem& problem, auto&) {
    const Plan greedy = make_plan(problem, Schedule::mg_wfbp);
    const double optimum = finish_of(problem, Schedule::optimal);
    CHECK(at_most(optimum, greedy.finish.value));
    CHECK(greedy.finish.value < 2 * optimum);
    CHECK(at_most(greedy.finish.value, finish_of(problem, Schedule::wfbp)));
    CHECK(at_most(greedy.finish.value, finish_of(problem, Schedule::single)));
    if (greedy.waiting_merges == 0) {
      CHECK(certified_optimal(problem, greedy));
      CHECK(greedy.finish.value == within(optimum, 1e-9));
    }
  });
}

TEST_CASE("without a start-up, wfbp is optimal") {
  for_random_problems(3, 200, any_shape(CostKind::linear), [](Problem problem, auto&) {
    std::get<LinearCost>(problem.cost.base).startup_s = 0;
    CHECK(finish_of(problem, Schedule::wfbp) ==
          within(finish_of(problem, Schedule::optimal), 1e-9));
  });
}

// Times of whole seconds are exact; a tenth of them is not, and its rounding must split nothing.
TEST_CASE("without a start-up, the optimum splits no message that rounding alone would split") {
  RandomStream random({.seed = 6});
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    std::vector<double> ready, tenth, bytes;
    const std::int64_t items = random.integer(1, 12);
    for (std::int64_t item = 0; item < items; ++item) {
      const double gap = static_cast<double>(random.integer(0, 8));
      ready.push_back((ready.empty() ? 0 : ready.back()) + gap);
      tenth.push_back(ready.back() * 0.1);
      bytes.push_back(static_cast<double>(random.integer(1, 7)));
    }
    const std::string exact =
        text_of(make_plan(problem_of(ready, bytes, linear(0, 1)), Schedule::optimal));
    CHECK(text_of(make_plan(problem_of(tenth, bytes, linear(0, 0.1)), Schedule::optimal)) == exact);
    const Cost table{.base = TableCost{{1, 1000}, {0.1, 100}, 0.1}};
    CHECK(text_of(make_plan(problem_of(tenth, bytes, table), Schedule::optimal)) == exact);
  }
  const Problem at_once = problem_of({0.1, 0.1, 0.1}, {3, 1, 7}, linear(0, 0.1));
  CHECK(text_of(make_plan(at_once, Schedule::optimal)) == "{1-3}");
}

// A library that sends large messages by another algorithm: 12 bytes take less than 10.
TEST_CASE("a cost that falls where its algorithm changes: optimal is exact, and above the bound") {
  const auto falling = [](double bytes) {
    return bytes < 12 ? 1 + bytes : bytes < 30 ? 2 + bytes / 6 : 5 + bytes / 30;
  };
  RandomStream random({.seed = 8});
  for (int i = 0; i < 200; ++i) {
    CAPTURE(i);
    std::vector<double> ready, bytes;
    const std::int64_t items = random.integer(1, 10);
    for (std::int64_t item = 0; item < items; ++item) {
      ready.push_back((ready.empty() ? 0 : ready.back()) + random.uniform(0, 3));
      bytes.push_back(static_cast<double>(random.integer(0, 14)));
    }
    const Problem problem = problem_of(ready, bytes, {.base = CurveCost{falling}});
    const double least = finish_of(problem, Schedule::exhaustive);
    CHECK(finish_of(problem, Schedule::optimal) == within(least, 1e-9));
    CHECK(at_most(finish_lower_bound(problem).value, least));
  }
  // The last item alone takes 11 s; with the one before it, 4 s.
  const Problem late = problem_of({1, 2}, {2, 10}, {.base = CurveCost{falling}});
  CHECK(finish_lower_bound(late).value == 2 + falling(12));
  CHECK(finish_of(late, Schedule::optimal) == 2 + falling(12));
}

TEST_CASE("where bytes cost nothing, the optimum is one message") {
  const Problem free = problem_of({1, 2, 3, 9}, {5, 5, 5, 5}, linear(0.25, 0));
  CHECK(text_of(make_plan(free, Schedule::optimal)) == "{1-4}");
  const Problem busy = problem_of({1, 2, 3, 9}, {5, 5, 5, 5}, linear(0, 0));
  CHECK(text_of(make_plan(busy, Schedule::optimal)) == "{1-4}");
}

TEST_CASE("one or two gradients, linear cost: the greedy is optimal") {
  RandomShape shape = any_shape(CostKind::linear);
  shape.max_items = 2;
  for_random_problems(4, 300, shape, [](const Problem& problem, auto&) {
    CHECK(finish_of(problem, Schedule::mg_wfbp) ==
          within(finish_of(problem, Schedule::optimal), 1e-9));
  });
}

TEST_CASE("scaling all times by 4 scales every finish by 4") {
  for_random_problems(5, 200, any_shape(CostKind::linear),
                      [](const Problem& problem, RandomStream& random) {
                        Problem scaled = problem;
                        auto& cost = std::get<LinearCost>(scaled.cost.base);
                        cost.startup_s *= 4;
                        cost.per_byte_s *= 4;
                        scaled.channel_free.value *= 4;
                        for (Item& item : scaled.items) {
                          item.ready.value *= 4;
                        }
                        for (Setting setting : settings_of(problem, random)) {
                          CAPTURE(setting.name);
                          const Plan before = plan_of(problem, setting);
                          setting.options.cycle.value *= 4;
                          setting.options.phase.value *= 4;
                          const Plan after = plan_of(scaled, setting);
                          CHECK(after.finish.value == 4 * before.finish.value); // exact in binary
                          CHECK(text_of(after) == text_of(before));
                        }
                      });
}

TEST_CASE("four times the bytes at a quarter of the time per byte changes nothing") {
  for_random_problems(6, 200, any_shape(CostKind::linear),
                      [](Problem problem, RandomStream& random) {
                        for (Item& item : problem.items) {
                          item.elements = item.bytes.value;
                        }
                        Problem scaled = problem;
                        std::get<LinearCost>(scaled.cost.base).per_byte_s /= 4;
                        for (Item& item : scaled.items) {
                          item.bytes = item.bytes * 4;
                        }
                        for (Setting setting : settings_of(problem, random)) {
                          CAPTURE(setting.name);
                          const Plan before = plan_of(problem, setting);
                          setting.options.bucket_bytes.value *= 4;
                          setting.options.fusion_bytes.value *= 4;
                          for (double& cap : setting.options.caps_mib) {
                            cap *= 4;
                          }
                          const Plan after = plan_of(scaled, setting);
                          CHECK(after.finish.value == before.finish.value); // exact in binary
                          CHECK(text_of(after) == text_of(before));
                        }
                      });
}

TEST_CASE("a later start of everything shifts every finish by as much") {
  for_random_problems(7, 200, any_shape(CostKind::table),
                      [](const Problem& problem, RandomStream& random) {
                        const double shift = 3;
                        Problem later = problem;
                        later.channel_free.value += shift;
                        for (Item& item : later.items) {
                          item.ready.value += shift;
                        }
                        for (Setting setting : settings_of(problem, random)) {
                          CAPTURE(setting.name);
                          const double before = plan_of(problem, setting).finish.value;
                          setting.options.phase.value += shift;
                          const double after = plan_of(later, setting).finish.value;
                          CHECK(after == within(before + shift, 1e-9));
                        }
                      });
}

TEST_CASE("inserting items of 0 bytes changes no start and no end of a message") {
  for (const auto kind : {CostKind::linear, CostKind::table}) {
    RandomShape shape = any_shape(kind);
    shape.empty_items = false;
    for_random_problems(8, 200, shape, [](const Problem& problem, RandomStream& random) {
      Problem padded = problem;
      for (std::size_t at = padded.items.size() + 1; at-- > 0;) {
        if (random.integer(0, 2) == 0) {
          const double before = at > 0 ? padded.items[at - 1].ready.value : 0;
          const double after = at < padded.items.size() ? padded.items[at].ready.value : before + 1;
          Item empty;
          empty.ready = Seconds{random.uniform(before, after)};
          padded.items.insert(padded.items.begin() + static_cast<std::ptrdiff_t>(at), empty);
        }
      }
      for (const Setting& setting : settings_of(problem, random)) {
        CAPTURE(setting.name);
        const Plan without = plan_of(problem, setting);
        const Plan with = plan_of(padded, setting);
        REQUIRE(with.groups.size() == without.groups.size());
        for (std::size_t g = 0; g < with.groups.size(); ++g) {
          CHECK(with.groups[g].start == without.groups[g].start);
          CHECK(with.groups[g].end == without.groups[g].end);
        }
        CHECK(with.waiting_merges == without.waiting_merges);
      }
    });
  }
}

TEST_CASE("horovod without cycle and limit: blocking = eager, non-blocking = wfbp") {
  RandomShape shape = any_shape(CostKind::linear);
  shape.repeated_ready = false; // all ready times differ
  for_random_problems(9, 300, shape, [](Problem problem, auto&) {
    problem.channel_free = {};
    ScheduleOptions options;
    options.cycle = Seconds{0};
    options.fusion_bytes = Bytes{std::int64_t{1} << 50};
    CHECK(text_of(make_plan(problem, Schedule::horovod, options)) ==
          text_of(make_plan(problem, Schedule::wfbp)));
    CHECK(finish_of(problem, Schedule::horovod, options) == finish_of(problem, Schedule::wfbp));
    options.blocking = true;
    CHECK(text_of(make_plan(problem, Schedule::horovod, options)) ==
          text_of(make_plan(problem, Schedule::eager)));
    CHECK(finish_of(problem, Schedule::horovod, options) == finish_of(problem, Schedule::eager));
  });
}

TEST_CASE("horovod with a cycle longer than backward: one message at the first tick after it") {
  RandomShape shape = any_shape(CostKind::linear);
  shape.empty_items = false;
  for_random_problems(10, 200, shape, [](const Problem& problem, RandomStream& random) {
    ScheduleOptions options;
    options.cycle = problem.items.back().ready * random.uniform(1, 3);
    options.fusion_bytes = Bytes{std::int64_t{1} << 50};
    const Plan plan = make_plan(problem, Schedule::horovod, options);
    REQUIRE(plan.groups.size() == 1);
    CHECK(plan.groups[0].ready == options.cycle);
  });
}

TEST_CASE("ddp: buckets of 1 byte are wfbp, a bucket above everything is single") {
  for_random_problems(11, 200, any_shape(CostKind::table), [](const Problem& problem, auto&) {
    ScheduleOptions options;
    options.bucket_bytes = Bytes{1};
    CHECK(text_of(make_plan(problem, Schedule::ddp, options)) ==
          text_of(make_plan(problem, Schedule::wfbp)));
    options.bucket_bytes = Bytes{std::int64_t{1} << 50};
    CHECK(text_of(make_plan(problem, Schedule::ddp, options)) ==
          text_of(make_plan(problem, Schedule::single)));
  });
}
