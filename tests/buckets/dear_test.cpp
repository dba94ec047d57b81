// DeAR: MER 6.3 and its cases of MER 14 G.
#include <doctest/doctest.h>

#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"
#include "buckets/steps.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Bytes;

namespace {

const Layers kG3{{1, 2, 1, 1}, {2, 2, 2, 2}, {4, 8, 12, 16}, 0.5, 0.25};

ScheduleOptions bucket(std::int64_t bytes) {
  ScheduleOptions options;
  options.bucket_bytes = Bytes{bytes};
  return options;
}

ScheduleOptions layers_per_group(std::int64_t layers) {
  ScheduleOptions options;
  options.dear_layers = layers;
  return options;
}

// Groups with layers numbered from 1 in forward order.
std::string forward_text(const Plan& plan, std::size_t layers) {
  std::string text;
  for (std::size_t g = plan.groups.size(); g-- > 0;) {
    const std::size_t first = layers - plan.groups[g].last();
    const std::size_t last = layers - plan.groups[g].first();
    text += "{" + std::to_string(first) + (first == last ? "" : "-" + std::to_string(last)) + "}";
  }
  return text;
}

std::string groups_of(const ScheduleOptions& options) {
  return forward_text(make_plan(problem_of(kG3), Schedule::dear, options), 4);
}

} // namespace

TEST_CASE("dear: a module joins while the group stays below the threshold (MER G3)") {
  CHECK(groups_of(bucket(16)) == "{1-2}{3}{4}");  // 4 + 8 < 16, + 12 is not
  CHECK(groups_of(bucket(12)) == "{1}{2}{3}{4}"); // 4 + 8 < 12 is false
  CHECK(groups_of(bucket(13)) == "{1-2}{3}{4}");
  CHECK(groups_of(bucket(1)) == "{1}{2}{3}{4}");
  CHECK(groups_of(bucket(41)) == "{1-4}");
  CHECK(groups_of(layers_per_group(1)) == "{1}{2}{3}{4}");
  CHECK(groups_of(layers_per_group(2)) == "{1-2}{3-4}");
  CHECK(groups_of(layers_per_group(3)) == "{1-3}{4}");
  CHECK(groups_of(layers_per_group(9)) == "{1-4}");
}

TEST_CASE("dear: tensors of one layer stay together, as a module") {
  Problem problem = stepsim::buckets::testing::problem_of({1, 1, 2, 2}, {3, 3, 3, 3}, linear(1, 1));
  problem.items[0].layer = problem.items[1].layer = 1;
  CHECK(text_of(make_plan(problem, Schedule::dear, bucket(1))) == "{1-2}{3-4}");
  CHECK(text_of(make_plan(problem, Schedule::dear, bucket(12))) == "{1-2}{3-4}");
  CHECK(text_of(make_plan(problem, Schedule::dear, bucket(13))) == "{1-4}");
  CHECK(text_of(make_plan(problem, Schedule::dear, layers_per_group(1))) == "{1-2}{3-4}");
}
