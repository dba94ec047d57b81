#include <algorithm>
#include <numeric>

#include <doctest/doctest.h>

#include "buckets/plan_problems.hpp"
#include "buckets/planner_options.hpp"
#include "buckets/planners.hpp"

using namespace stepsim::buckets;
using namespace stepsim::buckets::testing;
using stepsim::Bytes;
using stepsim::Seconds;

namespace {

using Sizes = std::vector<std::int64_t>;

// Elements of the 161 parameters of ResNet-50 in registration order (torchvision): every
// convolution is followed by the weight and bias of its batch norm; the projection comes last in
// its block.
Sizes resnet50_elements() {
  Sizes elements;
  const auto convolution = [&](std::int64_t inputs, std::int64_t outputs, std::int64_t kernel) {
    elements.push_back(inputs * outputs * kernel * kernel);
    elements.push_back(outputs);
    elements.push_back(outputs);
  };
  convolution(3, 64, 7);
  std::int64_t inputs = 64;
  const Sizes blocks{3, 4, 6, 3};
  for (std::size_t stage = 0; stage < blocks.size(); ++stage) {
    const std::int64_t width = std::int64_t{64} << stage;
    for (std::int64_t block = 0; block < blocks[stage]; ++block) {
      convolution(inputs, width, 1);
      convolution(width, width, 3);
      convolution(width, 4 * width, 1);
      if (block == 0) {
        convolution(inputs, 4 * width, 1);
      }
      inputs = 4 * width;
    }
  }
  elements.push_back(2048 * 1000);
  elements.push_back(1000);
  return elements;
}

// fp32, items in backward order = reverse registration.
Problem problem_of_model(const Sizes& elements) {
  Problem problem;
  problem.cost = linear(1e-3, 1e-9);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::size_t registration = elements.size() - 1 - i;
    Item item;
    item.ready = Seconds{1e-3 * static_cast<double>(i + 1)};
    item.elements = elements[registration];
    item.bytes = Bytes{4 * item.elements};
    item.registration = static_cast<std::int64_t>(registration);
    problem.items.push_back(item);
  }
  return problem;
}

Sizes elements_of(const Plan& plan) {
  Sizes sizes;
  for (const Group& group : plan.groups) {
    sizes.push_back(group.bytes.value / 4);
  }
  return sizes;
}

Sizes counts_of(const Plan& plan) {
  Sizes counts;
  for (const Group& group : plan.groups) {
    counts.push_back(static_cast<std::int64_t>(group.items.size()));
  }
  return counts;
}

Plan ddp(const Problem& problem, const ScheduleOptions& options = {}) {
  return make_plan(problem, Schedule::ddp, options);
}

ScheduleOptions limits(std::int64_t first, std::int64_t others) {
  ScheduleOptions options;
  options.first_bucket_bytes = Bytes{first};
  options.bucket_bytes = Bytes{others};
  return options;
}

ScheduleOptions in_mode(DdpMode mode, ScheduleOptions options = {}) {
  options.ddp_mode = mode;
  return options;
}

// Wrong on purpose: the crossing tensor opens the next bucket.
Sizes buckets_with_crossing_tensor_moved(const Problem& problem) {
  Sizes sizes;
  std::int64_t size = 0;
  std::int64_t limit = 1024 * 1024;
  for (const Item& item : problem.items) {
    if (size > 0 && size + item.bytes.value > limit) {
      sizes.push_back(size / 4);
      size = 0;
      limit = kDefaultBucketBytes.value;
    }
    size += item.bytes.value;
  }
  sizes.push_back(size / 4);
  return sizes;
}

} // namespace

TEST_CASE("ddp: the buckets of ResNet-50 are those of the public profiler trace") {
  const Sizes elements = resnet50_elements();
  REQUIRE(elements.size() == 161);
  REQUIRE(std::accumulate(elements.begin(), elements.end(), std::int64_t{0}) == 25'557'032);
  const Problem problem = problem_of_model(elements);
  const Sizes traced{2'049'000, 7'875'584, 6'563'840, 6'637'568, 2'431'040};

  const Plan plan = ddp(problem);
  CHECK(elements_of(plan) == traced);
  CHECK(counts_of(plan) == Sizes{2, 15, 12, 51, 81});
  CHECK(elements_of(ddp(problem, limits(1'000'000, 25'000'000))) == traced);

  // A size that is given is that of the first bucket, too, but not in PyTorch 1.13.
  ScheduleOptions given;
  given.bucket_bytes = Bytes{10'000'000};
  CHECK(elements_of(ddp(problem, given)) ==
        elements_of(ddp(problem, limits(10'000'000, 10'000'000))));
  given.framework = Framework::torch_1_13;
  CHECK(elements_of(ddp(problem, given)) == elements_of(ddp(problem, limits(1 << 20, 10'000'000))));
  given.first_bucket_bytes = Bytes{5'000'000};
  CHECK(elements_of(ddp(problem, given)) ==
        elements_of(ddp(problem, limits(5'000'000, 10'000'000))));

  // Variants of the rule that are wrong do not give these.
  const Sizes moved = buckets_with_crossing_tensor_moved(problem);
  CHECK(moved == Sizes{1'000, 6'514'688, 4'462'592, 6'300'160, 6'112'256, 2'166'336});
  CHECK(moved != traced);
  const std::int64_t bucket = kDefaultBucketBytes.value;
  const Sizes no_small_first = elements_of(ddp(problem, limits(bucket, bucket)));
  CHECK(no_small_first == Sizes{7'564'264, 6'563'840, 7'091'712, 4'337'216});
  CHECK(no_small_first != traced);
}

TEST_CASE("ddp, unused_parameters: buckets in registration order, launched last first") {
  const Plan plan = ddp(problem_of_model(resnet50_elements()), in_mode(DdpMode::unused_parameters));
  CHECK(elements_of(plan) == Sizes{3'102'696, 7'875'584, 7'417'344, 6'755'584, 405'824});
  CHECK(counts_of(plan) == Sizes{7, 15, 24, 78, 37});
}

TEST_CASE("ddp, last_small: the small bucket is the last one launched") {
  const Problem problem = problem_of({1, 2, 3, 4, 5}, {4, 4, 4, 4, 4}, linear(1, 0));
  // from the back: {5} reaches 3, then {4, 3} reaches 8, {2, 1}; reversed
  CHECK(text_of(ddp(problem, in_mode(DdpMode::last_small, limits(3, 8)))) == "{1-2}{3-4}{5}");
  CHECK(text_of(ddp(problem, limits(3, 8))) == "{1}{2-3}{4-5}");
}

TEST_CASE("ddp: the crossing tensor stays, the test is >=, the rest closes at the end") {
  // first limit 2, then 5; sizes 1, 2 | 4, 3 | 1
  const Problem problem = problem_of({1, 2, 3, 4, 5}, {1, 2, 4, 3, 1}, linear(1, 0));
  CHECK(text_of(ddp(problem, limits(2, 5))) == "{1-2}{3-4}{5}");
  CHECK(text_of(ddp(problem, limits(3, 7))) == "{1-2}{3-4}{5}"); // exactly full closes
  CHECK(text_of(ddp(problem, limits(4, 5))) == "{1-3}{4-5}");
}

TEST_CASE("ddp: the first bucket is small only with the default bucket size") {
  const double mib = 1024 * 1024;
  const Problem problem = problem_of({1, 2, 3, 4}, {mib, mib, 26 * mib, mib}, linear(1, 0));
  CHECK(text_of(ddp(problem)) == "{1}{2-3}{4}");
  ScheduleOptions options;
  options.bucket_bytes = Bytes{2 * 1024 * 1024};
  CHECK(text_of(ddp(problem, options)) == "{1-2}{3}{4}");
}

TEST_CASE("ddp: one open bucket and one limit sequence per dtype") {
  Problem problem = problem_of({1, 2, 3, 4, 5, 6}, {2, 2, 2, 2, 2, 2}, linear(1, 0));
  for (const std::size_t i : {1U, 3U, 5U}) {
    problem.items[i].dtype = 7;
  }
  // dtype 0: {1} (limit 2), {3, 5} (limit 4); dtype 7: {2}, {4, 6}
  CHECK(text_of(ddp(problem, limits(2, 4))) == "{1}{2}{3,5}{4,6}");
  // nothing fills: closed in order of the first tensor
  CHECK(text_of(ddp(problem, limits(100, 100))) == "{1,3,5}{2,4,6}");
  // iteration 1: one bucket per dtype; formed in registration order (6 first), launched reversed
  CHECK(text_of(ddp(problem, in_mode(DdpMode::first_iteration, limits(2, 4)))) == "{1,3,5}{2,4,6}");
}

TEST_CASE("ddp: launch is in list order, so a late early bucket holds the next ones back") {
  Problem problem = problem_of({1, 2, 3, 9}, {2, 2, 2, 2}, linear(1, 0));
  problem.items[0].dtype = 1;
  problem.items[3].dtype = 1;
  const Plan plan = ddp(problem, limits(4, 4)); // closed when 3 and when 4 arrive
  REQUIRE(text_of(plan) == "{2-3}{1,4}");
  // The other way round: a measured ready order that puts the late tensor first.
  problem.items[3].ready_order = -1;
  const Plan late = ddp(problem, limits(4, 4));
  REQUIRE(text_of(late) == "{1,4}{2-3}");
  CHECK(late.groups[0].start.value == 9);
  CHECK(late.groups[1].ready.value == 9); // ready at 3, but behind the first bucket
  CHECK(late.groups[1].start.value == 9 + 1);
}

TEST_CASE("ddp: without a measured ready order, reverse registration decides, not the list") {
  Problem problem = problem_of({1, 1, 2}, {2, 2, 2}, linear(1, 0));
  problem.items[0].registration = 1;
  problem.items[1].registration = 2; // registered last: bucketed first
  problem.items[2].registration = 0;
  CHECK(text_of(ddp(problem, limits(2, 4))) == "{2}{1,3}");
  problem.items[0].ready_order = 0;
  problem.items[1].ready_order = 1;
  problem.items[2].ready_order = 2;
  CHECK(text_of(ddp(problem, limits(2, 4))) == "{1}{2-3}");
}

TEST_CASE("ddp: a bucket larger than the model is a warning") {
  const Problem problem = problem_of({1, 2}, {2, 2}, linear(1, 0));
  CHECK(ddp(problem, limits(5, 5)).warnings.size() == 1);
  CHECK(ddp(problem, limits(4, 4)).warnings.empty());
  CHECK(ddp(problem, limits(1, 5)).warnings.empty());
}

TEST_CASE("caps: each bucket takes the next size of the list, and the last one repeats") {
  const std::int64_t unit = 1 << 18; // a quarter of a MiB
  Problem problem = problem_of({1, 2, 3, 4, 5, 6, 7}, {1, 1, 1, 1, 1, 1, 1}, linear(1e-3, 1e-9));
  for (std::size_t i = 0; i < problem.items.size(); ++i) {
    problem.items[i].bytes = Bytes{unit};
  }
  ScheduleOptions options;
  options.caps_mib = {0.25, 0.5, 0.75};
  CHECK(text_of(make_plan(problem, Schedule::caps, options)) == "{1}{2-3}{4-6}{7}");
  options.caps_mib = {0.3}; // the tensor that crosses the size stays in its bucket
  CHECK(text_of(make_plan(problem, Schedule::caps, options)) == "{1-2}{3-4}{5-6}{7}");
  for (Item& item : problem.items) { // every element type has the whole list
    item.dtype = item.ready.value > 4 ? 1 : 0;
  }
  options.caps_mib = {0.25, 0.5};
  CHECK(text_of(make_plan(problem, Schedule::caps, options)) == "{1}{2-3}{5}{6-7}{4}");
}
