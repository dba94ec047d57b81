#include "links/packet/packet_event_queue.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>
#include <vector>

#include "base/random.hpp"

namespace stepsim::links {
namespace {

auto rank(const PacketEvent& event) {
  return std::tuple(event.time, event.key, event.seq, event.id);
}

TEST_CASE("packet events leave by (time, class, key, seq, id)") {
  PacketEventQueue queue(2'200'000);
  const std::uint64_t end = event_key(EventClass::end) | 7;
  const std::uint64_t data = event_key(EventClass::arrival, 3, 0, 1);
  const std::uint64_t ack = event_key(EventClass::arrival, 3, 0, 2);
  const std::uint64_t control = event_key(EventClass::arrival, 3, 0, 0);
  const std::uint64_t other_host = event_key(EventClass::arrival, 2, 9, 2);
  const std::uint64_t timer = event_key(EventClass::timer, 0, 0);
  const std::vector<PacketEvent> order = {
      {5, timer, 0, 0}, {9, end, 0, 7},  {9, other_host, 4, 1}, {9, control, 8, 2},
      {9, data, 1, 9},  {9, data, 2, 3}, {9, ack, 0, 4},        {9, timer, 0, 5}};
  for (auto event = order.rbegin(); event != order.rend(); ++event) {
    queue.push(*event);
  }
  for (const PacketEvent& event : order) {
    CHECK(rank(queue.pop()) == rank(event));
  }
  CHECK(queue.empty());
}

TEST_CASE("packet events: any mix of near, far and simultaneous ones leaves sorted") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    base::RandomStream random({.seed = seed});
    PacketEventQueue queue(2'200'000);
    std::vector<std::tuple<Picoseconds, std::uint64_t, std::uint32_t, std::uint32_t>> pending;
    Picoseconds now = 0;
    std::uint32_t id = 0;
    for (int step = 0; step < 4000; ++step) {
      if (pending.empty() || random.uniform(0, 1) < (step < 2500 ? 0.6 : 0.3)) {
        // now, soon, some steps ahead, far timers
        const double reach[] = {0, 1000, 5e6, 1e10};
        const double most = reach[static_cast<std::size_t>(random.uniform(0, 3.999))];
        const PacketEvent event{now + static_cast<Picoseconds>(random.uniform(0, most)),
                                static_cast<std::uint64_t>(random.uniform(0, 3)) << 62, 0, id++};
        queue.push(event);
        pending.push_back(rank(event));
      } else {
        const auto first = std::min_element(pending.begin(), pending.end());
        REQUIRE(queue.next_time() == std::get<0>(*first));
        REQUIRE((!queue.any_at(now) || std::get<0>(*first) == now));
        REQUIRE(rank(queue.pop()) == *first);
        now = std::get<0>(*first);
        pending.erase(first);
      }
      REQUIRE(queue.size() == pending.size());
    }
  }
}

} // namespace
} // namespace stepsim::links
