// A search that goes on from the last place finds what a search of the whole list finds.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/random.hpp"
#include "import/kineto/kineto_attribution.hpp"

using namespace stepsim;
using namespace stepsim::io;

TEST_CASE("interval search: from every place the partition point is the same") {
  for (std::ptrdiff_t size = 0; size <= 40; ++size) {
    const std::vector<int> list(static_cast<std::size_t>(size));
    for (std::ptrdiff_t point = 0; point <= size; ++point) {
      const auto before = [&](const int& each) { return &each - list.data() < point; };
      for (std::ptrdiff_t near = 0; near <= size; ++near) {
        CHECK(partition_point_near(list.begin(), list.end(), list.begin() + near, before) ==
              list.begin() + point);
      }
    }
  }
}

TEST_CASE("interval search: moments in any order give the last interval that holds them") {
  base::RandomStream random({.seed = 9});
  for (int round = 0; round < 200; ++round) {
    std::vector<HostInterval> intervals;
    for (std::int32_t thread = 0; thread < 3; ++thread) {
      Nanoseconds end = 0;
      for (auto left = random.integer(0, 30); left > 0; --left) {
        const Nanoseconds begin = end + random.integer(0, 5);
        end = begin + random.integer(1, 5);
        intervals.push_back({thread, begin, end});
      }
    }
    IntervalSearch search(intervals);
    for (int question = 0; question < 200; ++question) {
      const auto thread = static_cast<std::int32_t>(random.integer(-1, 3));
      const Nanoseconds moment = random.integer(-1, 200);
      const auto found = std::ranges::find_if(intervals, [&](const HostInterval& each) {
        return each.thread == thread && each.begin <= moment && moment < each.end;
      });
      const auto expected =
          found == intervals.end() ? -1 : static_cast<std::int32_t>(found - intervals.begin());
      REQUIRE(search.at(thread, moment) == expected);
      REQUIRE(IntervalSearch(intervals).at(thread, moment) == expected);
    }
  }
}
