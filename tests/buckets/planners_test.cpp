// The small worked cases of every planner: ten numbers each, times by hand.
#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "buckets/problem.hpp"

#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include "base/error.hpp"
#include "buckets/plan_problems.hpp"
#include "testing/tolerance.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Seconds;
using stepsim::base::RandomStream;
using stepsim::testing::Tolerance;
using stepsim::testing::within;

namespace {

struct Planned {
  double finish;
  std::string groups;
  std::int64_t waits;
};

Planned plan_with(const Problem& problem, Schedule schedule, const ScheduleOptions& options = {}) {
  const Plan plan = make_plan(problem, schedule, options);
  return {plan.finish.value, text_of(plan), plan.waiting_merges};
}

double finish_of(const Problem& problem, Schedule schedule) {
  return make_plan(problem, schedule).finish.value;
}

Tolerance near(double value) { return within(value, 1e-9); }

} // namespace

TEST_CASE("three gradients where two short waits throw away the overlap of the first message") {
  const Problem problem = problem_of({0, 0.9, 1.8}, {800, 100, 100}, linear(1, 1e-3));
  const auto T = [](double bytes) { return 1 + 1e-3 * bytes; };
  CHECK(finish_of(problem, Schedule::wfbp) == near(0 + T(800) + T(100) + T(100)));
  CHECK(finish_of(problem, Schedule::single) == near(1.8 + T(1000)));
  CHECK(finish_of(problem, Schedule::eager) == near(0 + T(800) + T(200)));
  const Planned greedy = plan_with(problem, Schedule::mg_wfbp);
  CHECK(greedy.finish == near(1.8 + T(1000)));
  CHECK(greedy.groups == "{1-3}");
  CHECK(greedy.waits == 2);
  const Planned best = plan_with(problem, Schedule::optimal);
  CHECK(best.finish == near(0 + T(800) + T(200)));
  CHECK(best.groups == "{1}{2-3}");
  CHECK(finish_lower_bound(problem).value == near(std::max(1.8 + T(100), 0 + T(1000))));
  CHECK_FALSE(certified_optimal(problem, make_plan(problem, Schedule::mg_wfbp)));
}

TEST_CASE("every backward time at least one start-up, and the greedy is still not optimal") {
  const Problem problem = problem_of({1, 2, 3.9, 5}, {1000, 900, 100, 100}, linear(1, 1e-3));
  const auto T = [](double bytes) { return 1 + 1e-3 * bytes; };
  CHECK(finish_of(problem, Schedule::wfbp) == near(1 + T(1000) + T(900) + T(100) + T(100)));
  CHECK(finish_of(problem, Schedule::single) == near(5 + T(2100)));
  CHECK(finish_of(problem, Schedule::eager) == near(1 + T(1000) + T(900) + T(100) + T(100)));
  const Planned greedy = plan_with(problem, Schedule::mg_wfbp);
  CHECK(greedy.finish == near(3.9 + T(1000) + T(100)));
  CHECK(greedy.groups == "{1}{2-3}{4}");
  CHECK(greedy.waits == 1);
  const Planned best = plan_with(problem, Schedule::optimal);
  CHECK(best.finish == near(5 + T(200)));
  CHECK(best.groups == "{1-2}{3-4}");
}

TEST_CASE("five layers without a waiting merge: the greedy is certified optimal") {
  const Problem problem =
      problem_of({2e-3, 5e-3, 6e-3, 10e-3, 12e-3}, {4e6, 1e5, 2e5, 1e6, 4e4}, linear(1e-3, 1e-9));
  const auto T = [](double bytes) { return 1e-3 + 1e-9 * bytes; };
  const double last_alone = 12e-3 + T(4e4); // all earlier messages end before 12 ms
  CHECK(finish_of(problem, Schedule::wfbp) == near(last_alone));
  CHECK(finish_of(problem, Schedule::single) == near(12e-3 + T(5.34e6)));
  CHECK(finish_of(problem, Schedule::eager) == near(last_alone));
  const Plan greedy = make_plan(problem, Schedule::mg_wfbp);
  CHECK(greedy.finish.value == near(last_alone));
  CHECK(text_of(greedy) == "{1}{2-3}{4}{5}");
  CHECK(greedy.waiting_merges == 0);
  CHECK(certified_optimal(problem, greedy));
  CHECK(finish_of(problem, Schedule::optimal) == near(last_alone));
  const double forward = 5e-3;
  CHECK(forward + greedy.finish.value == near(18.04e-3));
  CHECK(forward + finish_of(problem, Schedule::single) == near(23.34e-3));
}

TEST_CASE("ready times one start-up and more apart: nothing is merged") {
  std::vector<double> ready;
  for (int i = 1; i <= 10; ++i) {
    ready.push_back(1e-3 * i);
  }
  const Problem problem =
      problem_of(ready, std::vector<double>(10, 1e6), linear(0.9e-3, 1e-10)); // T(1e6) = 1 ms
  const Planned greedy = plan_with(problem, Schedule::mg_wfbp);
  CHECK(greedy.groups == "{1}{2}{3}{4}{5}{6}{7}{8}{9}{10}");
  for (const auto schedule :
       {Schedule::wfbp, Schedule::eager, Schedule::mg_wfbp, Schedule::optimal}) {
    CHECK(finish_of(problem, schedule) == near(10e-3 + 1e-3));
  }
  CHECK(finish_of(problem, Schedule::single) == near(10e-3 + 0.9e-3 + 1e-3));
}

TEST_CASE("a chain of waits just under one start-up leads the greedy to one late message") {
  std::vector<double> ready;
  for (int i = 1; i <= 12; ++i) {
    ready.push_back(0.99 * i);
  }
  const Problem problem = problem_of(ready, std::vector<double>(12, 1), linear(1, 1));
  const auto T = [](double items) { return 1 + items; };
  CHECK(finish_of(problem, Schedule::wfbp) == near(0.99 + 12 * T(1)));
  CHECK(finish_of(problem, Schedule::single) == near(12 * 0.99 + T(12)));
  const Planned eager = plan_with(problem, Schedule::eager);
  CHECK(eager.groups == "{1}{2-3}{4-6}{7-10}{11-12}");
  CHECK(eager.finish == near(0.99 + T(1) + T(2) + T(3) + T(4) + T(2)));
  const Planned greedy = plan_with(problem, Schedule::mg_wfbp);
  CHECK(greedy.groups == "{1-12}");
  CHECK(greedy.waits == 11);
  CHECK(greedy.finish == near(12 * 0.99 + T(12)));
  // e.g. {1}{2-3} end at 5.99, {4-7} starts at 7 x 0.99, {8-12} follows
  CHECK(finish_of(problem, Schedule::optimal) == near(7 * 0.99 + T(4) + T(5)));
  CHECK(finish_of(problem, Schedule::exhaustive) == near(7 * 0.99 + T(4) + T(5)));
}

TEST_CASE("the ratio greedy / optimum of the chain grows towards 2") {
  const auto ratio = [](int items) {
    std::vector<double> ready;
    for (int i = 1; i <= items; ++i) {
      ready.push_back(0.99 * i);
    }
    const Problem problem =
        problem_of(ready, std::vector<double>(static_cast<std::size_t>(items), 1), linear(1, 1));
    return finish_of(problem, Schedule::mg_wfbp) / finish_of(problem, Schedule::optimal);
  };
  CHECK(ratio(3) == within(1.164, 1e-3));
  CHECK(ratio(12) == within(1.388, 1e-3));
  CHECK(ratio(200) == within(1.812, 1e-3));
  CHECK(ratio(1000) == within(1.910, 1e-3));
  CHECK(ratio(5000) == within(1.956, 1e-3));
}

TEST_CASE("a tie, wait = start-up, does not merge") {
  const Problem problem = problem_of({0, 1}, {1, 1}, linear(1, 1));
  CHECK(plan_with(problem, Schedule::mg_wfbp).groups == "{1}{2}");
  for (const Planner& row : planners()) {
    if (row.needs == Needs::cost && row.schedule != Schedule::ddp &&
        row.schedule != Schedule::horovod) {
      CAPTURE(row.name);
      CHECK(finish_of(problem, row.schedule) == near(4)); // 0 + 2 + 2, and 1 + 3
    }
  }
  // exhaustive: of equal finishes the plan with fewest groups
  CHECK(plan_with(problem, Schedule::exhaustive).groups == "{1-2}");
}

TEST_CASE("a table: the greedy weighs the wait against what one message saves over two") {
  const auto [table, report] = make_table_cost(std::vector<std::pair<double, double>>{
      {1e3, 1e-3}, {2e3, 1.5e-3}, {4e3, 1.3e-3}, {8e3, 3e-3}});
  CHECK(report.points_changed == 2);
  const Problem problem =
      problem_of({1e-3, 1.5e-3, 2e-3, 4e-3}, {1000, 1000, 2000, 8000}, {.base = table});
  // T(1000) = 1, T(2000) = T(4000) = 1.4, T(8000) = 3 ms
  CHECK(finish_of(problem, Schedule::wfbp) == near((1 + 1 + 1 + 1.4 + 3) * 1e-3));
  CHECK(finish_of(problem, Schedule::single) == near((4 + 3 + 4 * 0.4) * 1e-3));
  const Planned greedy = plan_with(problem, Schedule::mg_wfbp);
  CHECK(greedy.groups == "{1-3}{4}");
  CHECK(greedy.finish == near((4 + 3) * 1e-3));
  CHECK(finish_of(problem, Schedule::optimal) == near((4 + 3) * 1e-3));
}

TEST_CASE("mg_wfbp_small_tensors goes on merging below 8192 elements") {
  // Far apart: the published rule sends four messages.
  Problem problem = problem_of({1, 2, 3, 4}, {16000, 16764, 4, 4}, linear(0.1, 1e-9));
  CHECK(plan_with(problem, Schedule::mg_wfbp).groups == "{1}{2}{3}{4}");
  // 4000 elements; 4000 + 4191 = 8191; then 8192: closed before the fourth
  CHECK(plan_with(problem, Schedule::mg_wfbp_small_tensors).groups == "{1-3}{4}");
  CHECK(plan_with(problem, Schedule::mg_wfbp_small_tensors).waits == 2);
  // The same bytes in fp16 are twice the elements.
  for (Item& item : problem.items) {
    item.elements = item.bytes.value / 2;
  }
  CHECK(plan_with(problem, Schedule::mg_wfbp_small_tensors).groups == "{1-2}{3-4}");
}

TEST_CASE("mg_wfbp_small_tensors is mg_wfbp unless that closes a small group") {
  std::int64_t merging = 0;
  for (std::uint64_t instance = 0; instance < 300; ++instance) {
    CAPTURE(instance);
    RandomStream random({.seed = 21, .point = instance});
    const Problem problem = random_problem(random, {.max_items = 20});
    const Plan plan = make_plan(problem, Schedule::mg_wfbp);
    const bool merges = merges_small_tensors(problem, plan);
    CHECK(merges ==
          (text_of(plan) != text_of(make_plan(problem, Schedule::mg_wfbp_small_tensors))));
    merging += merges ? 1 : 0;
  }
  CHECK(merging > 30);
  CHECK(merging < 270);
}

TEST_CASE("copies are charged from the second tensor on, and the planners see them") {
  Cost cost = linear(1, 0);
  cost.copy_bandwidth_Bps = 4; // 1 s for each byte of a merged message
  const Problem cheap = problem_of({0, 0}, {1, 1}, linear(1, 0));
  const Problem dear = problem_of({0, 0}, {1, 1}, cost);
  CHECK(plan_with(cheap, Schedule::optimal).groups == "{1-2}");
  CHECK(finish_of(dear, Schedule::single) == near(1 + 4.0 * 2 / 4));
  CHECK(plan_with(dear, Schedule::optimal).groups == "{1}{2}");
  CHECK(plan_with(dear, Schedule::mg_wfbp).groups == "{1}{2}"); // saves 1 s, costs 2 s
  CHECK_FALSE(certified_optimal(dear, make_plan(dear, Schedule::mg_wfbp)));
}

TEST_CASE("copies of a closed group hold the channel, which the greedy sees at the next merge") {
  Cost cost = linear(10, 0);
  cost.copy_bandwidth_Bps = 4; // 1 s for each byte of a merged message
  // {1-2} ends at 10 + 2; item 3 waits 9 = 12 + 10 - 13, a tie, so it opens a group at 12;
  // item 4 waits 19 - 12 = 7 < 10 + 10 - 12
  const Planned greedy =
      plan_with(problem_of({0, 0, 9, 19}, {1, 1, 1, 1}, cost), Schedule::mg_wfbp);
  CHECK(greedy.groups == "{1-2}{3-4}");
  CHECK(greedy.waits == 1);
  CHECK(greedy.finish == near(19 + 10 + 2));
}

TEST_CASE("merging gradients that are ready together is no wait") {
  const Problem problem = problem_of({3, 3, 3}, {1, 1, 1}, linear(1, 1));
  const Plan greedy = make_plan(problem, Schedule::mg_wfbp);
  CHECK(text_of(greedy) == "{1-3}");
  CHECK(greedy.waiting_merges == 0);
  CHECK(certified_optimal(problem, greedy));
}

TEST_CASE("the channel is busy until channel_free") {
  Problem problem = problem_of({1, 2}, {10, 10}, linear(1, 0.1));
  problem.channel_free = Seconds{5};
  CHECK(finish_of(problem, Schedule::wfbp) == near(5 + 2 + 2));
  CHECK(plan_with(problem, Schedule::eager).groups == "{1-2}");
  CHECK(finish_of(problem, Schedule::mg_wfbp) == near(5 + 1 + 2));
  CHECK(finish_lower_bound(problem).value == near(5 + 1 + 2));
}

TEST_CASE("items of 0 bytes join the group of the next item with bytes and delay nothing") {
  const Problem problem = problem_of({1, 2, 3, 4, 9}, {0, 10, 0, 10, 0}, linear(1, 0.1));
  const Plan plan = make_plan(problem, Schedule::wfbp);
  CHECK(text_of(plan) == "{1-2}{3-5}");
  CHECK(plan.groups[0].start.value == 2);
  CHECK(plan.groups[1].start.value == 4); // not 9
  CHECK(plan.groups[1].end.value == near(4 + 2));
  CHECK(plan.finish.value == 9); // backward itself ends there
  CHECK(finish_lower_bound(problem).value == 9);
}

TEST_CASE("all bytes 0: no groups, the finish is the last ready time, and a warning") {
  Problem problem = problem_of({1, 2, 3}, {0, 0, 0}, linear(1, 1));
  problem.channel_free = Seconds{50};
  for (const Planner& row : planners()) {
    CAPTURE(row.name);
    if (row.run == nullptr) {
      continue; // omgs
    }
    const Plan plan = make_plan(problem, row.schedule);
    CHECK(plan.groups.empty());
    CHECK(plan.finish.value == 3);
    CHECK(plan.warnings.size() == 1);
  }
  CHECK(finish_lower_bound(problem).value == 3);
}

TEST_CASE("schedules that need a linear cost, or more than a cost, say so") {
  const Problem table = problem_of(
      {1, 2}, {10, 10},
      {.base = make_table_cost(std::vector<std::pair<double, double>>{{1, 1}, {9, 2}}).first});
  CHECK_THROWS_WITH_AS((void)make_plan(table, Schedule::priority),
                       "schedule priority needs a linear cost (startup_s, per_byte_s)",
                       stepsim::UsageError);
  CHECK_THROWS_WITH_AS((void)make_plan(table, Schedule::asc_wfbp),
                       "schedule asc_wfbp needs a linear cost (startup_s, per_byte_s)",
                       stepsim::UsageError);
  CHECK(make_plan(table, Schedule::dear).groups.size() == 1);
  Problem copies = problem_of({1, 2}, {10, 10}, linear(1, 1)); // 4 bytes / bandwidth from two on
  copies.cost.copy_bandwidth_Bps = 1;
  CHECK_THROWS_AS((void)make_plan(copies, Schedule::asc_wfbp), stepsim::UsageError);
  CHECK_THROWS_WITH_AS((void)make_plan(copies, Schedule::omgs),
                       "schedule omgs needs a sparse compression", stepsim::UsageError);
}

TEST_CASE("exhaustive search is refused above 20 gradients, with the way out") {
  const std::vector<double> many(21, 1.0);
  const Problem problem = problem_of(many, many, linear(1, 1));
  CHECK_THROWS_WITH_AS((void)make_plan(problem, Schedule::exhaustive),
                       "exhaustive search is limited to 20 gradients, got 21; use optimal",
                       stepsim::UsageError);
  const std::vector<double> most(20, 1.0);
  CHECK(finish_of(problem_of(most, most, linear(1, 1)), Schedule::exhaustive) == near(1 + 1 + 20));
}

TEST_CASE("a message far beyond the table is a warning") {
  const auto table = make_table_cost(std::vector<std::pair<double, double>>{{1, 1}, {10, 2}}).first;
  const Problem at_limit = problem_of({1}, {80}, {.base = table});
  const Problem beyond = problem_of({1}, {81}, {.base = table});
  CHECK(make_plan(at_limit, Schedule::wfbp).warnings.empty());
  CHECK(make_plan(beyond, Schedule::wfbp).warnings.size() == 1);
}

TEST_CASE("the table of planners has every schedule once, and finds it by name") {
  for (const Planner& row : planners()) {
    CHECK(find_planner(row.name) == &row);
    CHECK(&planner(row.schedule) == &row);
  }
  CHECK(find_planner("mgwfbp") == nullptr);
  CHECK(find_planner("ddp")->keys.size() == 7);
  CHECK(find_planner("horovod")->keys.size() == 4);
  CHECK(find_planner("optimal")->keys.empty());
  CHECK(find_planner("priority")->needs_linear_cost());
  CHECK(find_planner("asc_wfbp")->needs_linear_cost());
  CHECK_FALSE(find_planner("dear")->needs_linear_cost());
  CHECK_FALSE(find_planner("asc_wfbp")->needs_forward());
}
