#include "events/event_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace stepsim::events {
namespace {

struct Pushed {
  double time{};
  std::uint32_t id{};
};

TEST_CASE("event queue: earlier times leave first") {
  EventQueue<double> queue;
  for (const double time : {5.0, 7.0, 6.0, 8.0}) { // 6 comes after a later time
    queue.push(time, static_cast<std::uint32_t>(10 * time));
  }
  for (const double time : {5.0, 6.0, 7.0, 8.0}) {
    CHECK(queue.next_time() == time);
    CHECK(queue.pop().id() == static_cast<std::uint32_t>(10 * time));
  }
  CHECK(queue.empty());
}

TEST_CASE("event queue: events of equal time leave in the order of pushing") {
  EventQueue<std::int64_t> queue;
  queue.push(20, 9); // what follows is earlier and goes through the heap
  for (std::uint32_t id = 0; id < 100; ++id) {
    queue.push(10, id);
  }
  for (std::uint32_t id = 0; id < 100; ++id) {
    CHECK(queue.pop().id() == id);
  }
  CHECK(queue.pop().id() == 9);
  CHECK(queue.empty());
}

// Oracle: the pending event with the least (time, order of pushing), by linear search.
TEST_CASE("event queue: any mix of pushes and pops agrees with a linear search") {
  constexpr std::uint64_t kSeed = 1;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 50; ++round) {
    EventQueue<double> queue;
    std::vector<Pushed> pending;                     // in the order of pushing
    double now = round % 3 == 0 ? -500 : 0;          // times may be negative
    const double spread = round % 2 == 0 ? 3 : 1000; // many equal times, or few
    for (std::uint32_t id = 0; id < 2000; ++id) {
      if (pending.empty() || random.uniform() < 0.55) {
        const double time = now + static_cast<double>(random.integer(0, 1000)) / 1000 * spread;
        const double rounded = std::ceil(time);
        queue.push(rounded, id);
        pending.push_back({rounded, id});
      } else {
        const auto first =
            std::min_element(pending.begin(), pending.end(),
                             [](const Pushed& a, const Pushed& b) { return a.time < b.time; });
        const auto event = queue.pop();
        REQUIRE(event.time == first->time);
        REQUIRE(event.id() == first->id);
        now = event.time;
        pending.erase(first);
      }
      REQUIRE(queue.size() == pending.size());
    }
  }
}

TEST_CASE("event queue: draining takes what is due, and what is pushed meanwhile") {
  EventQueue<double> queue;
  CHECK(queue.next_or_never() == std::numeric_limits<double>::infinity());
  for (const double time : {1.0, 3.0, 2.0, 2.5}) {
    queue.push(time, static_cast<std::uint32_t>(10 * time));
  }
  std::vector<std::uint32_t> ids;
  queue.drain(2, [&](const auto& event) {
    ids.push_back(event.id());
    if (event.id() == 10) {
      queue.push(2, 21); // due at once
      queue.push(2.25, 22);
    }
  });
  CHECK(ids == std::vector<std::uint32_t>{10, 20, 21});
  CHECK(queue.next_or_never() == 2.25);
  EventQueue<std::int64_t> whole;
  CHECK(whole.next_or_never() == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("event queue: memory follows the pending events, not all that ever passed") {
  static_assert(sizeof(Event<double>) == 16);
  EventQueue<double> queue;
  for (std::uint32_t id = 0; id < 8; ++id) {
    queue.push(id, id);
  }
  for (int i = 0; i < 1'000'000; ++i) {
    const auto event = queue.pop();
    queue.push(event.time + 8, event.id());
  }
  CHECK(queue.size() == 8);
  CHECK(queue.capacity() <= 64);
}

} // namespace
} // namespace stepsim::events
