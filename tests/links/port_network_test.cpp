#include "links/flow/port_network.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "links/flow_oracle.hpp"
#include "links/network_model.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::links {
namespace {

using stepsim::testing::within;

constexpr double kTolerance = 1e-9;

struct Arrival {
  double time_s{};
  Transfer transfer;
};

// End time per id; arrivals in time order.
template <NetworkModel Model>
std::vector<double> run(Model model, const std::vector<Arrival>& arrivals) {
  std::vector<double> ends(arrivals.size(), -1);
  std::vector<std::uint32_t> done;
  std::size_t next = 0;
  for (;;) {
    const double arrival = next < arrivals.size() ? arrivals[next].time_s : kNever;
    const double now = std::min<double>(arrival, model.next_time());
    if (now == kNever) {
      return ends;
    }
    done.clear();
    model.advance(now, done);
    for (const std::uint32_t id : done) {
      ends[id] = now;
    }
    for (; next < arrivals.size() && arrivals[next].time_s <= now; ++next) {
      model.submit(now, arrivals[next].transfer);
    }
  }
}

// Port pair 0 (send), 1 (receive) of capacity 1 B/s.
Transfer on_port(std::uint32_t id, double latency, double bytes) {
  return {.id = id, .latency_s = latency, .per_byte_s = 1, .bytes = bytes, .send_port = 0};
}

TEST_CASE("alpha-beta: transfers end latency + bytes per rate after their start, side by side") {
  const auto ends = run(AlphaBeta(), {{0, on_port(0, 2, 10)}, {1, on_port(1, 2, 3)}});
  CHECK(ends[0] == 0 + 2 + 10);
  CHECK(ends[1] == 1 + 2 + 3);
}

TEST_CASE("ports: a transfer alone takes latency + bytes / capacity") {
  const auto ends = run(PortNetwork({0.5, 1}), {{1, on_port(0, 2, 10)}});
  CHECK(ends[0] == within(1 + 2 + 10 / 0.5, kTolerance));
}

TEST_CASE("ports: two transfers on one port take turns in rate, not in time") {
  // Alone 4 s each. Both from 0: 2 bytes of each by 4 ... the short one ends at 2 * 2, then the
  // other has 6 - 2 bytes left and the port alone.
  const auto ends = run(PortNetwork({1}), {{0, on_port(0, 0, 2)}, {0, on_port(1, 0, 6)}});
  CHECK(ends[0] == within(2 + 2, kTolerance));
  CHECK(ends[1] == within(2 + 6, kTolerance));
}

TEST_CASE("ports: latency holds no port") {
  const auto ends = run(PortNetwork({1}), {{0, on_port(0, 5, 1)}, {0, on_port(1, 0, 5)}});
  CHECK(ends[1] == within(5, kTolerance)); // the other is still on its way
  CHECK(ends[0] == within(5 + 1, kTolerance));
}

TEST_CASE("ports: no bytes take the latency only, no port the transfer's own rate") {
  Transfer free = on_port(1, 1, 8);
  free.send_port = kNoPort;
  const auto ends = run(PortNetwork({1}), {{0, on_port(0, 3, 0)}, {0, free}});
  CHECK(ends[0] == 3);
  CHECK(ends[1] == within(1 + 8, kTolerance));
}

TEST_CASE("ports: symmetric transfers end together") {
  std::vector<Arrival> arrivals;
  for (std::uint32_t id = 0; id < 7; ++id) {
    arrivals.push_back({0, on_port(id, 0.1, 1.0 / 3)});
  }
  const auto ends = run(PortNetwork({0.7}), arrivals);
  for (const double end : ends) {
    CHECK(end == ends[0]);
  }
  CHECK(ends[0] == within(0.1 + 7.0 / 3 / 0.7, kTolerance));
}

// One port: the fluid limit of round robin (processor sharing), in small steps between changes.
TEST_CASE("ports: random arrivals at one port agree with processor sharing") {
  constexpr std::uint64_t kSeed = 3;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 40; ++round) {
    std::vector<Arrival> arrivals;
    std::vector<double> left;
    double time = 0;
    for (std::uint32_t id = 0; id < 25; ++id) {
      time += random.uniform(0, 2);
      arrivals.push_back({time, on_port(id, 0, random.uniform(0.1, 4))});
      left.push_back(arrivals.back().transfer.bytes);
    }
    const auto ends = run(PortNetwork({1}), arrivals);
    // Oracle: the next change is an arrival or the end of the transfer with the least left.
    std::vector<double> expected(left.size(), -1);
    std::vector<std::size_t> active;
    double now = 0;
    std::size_t next = 0;
    while (next < arrivals.size() || !active.empty()) {
      const auto shortest =
          std::min_element(active.begin(), active.end(),
                           [&](std::size_t a, std::size_t b) { return left[a] < left[b]; });
      const double end =
          active.empty() ? kNever : now + left[*shortest] * static_cast<double>(active.size());
      const double arrival = next < arrivals.size() ? arrivals[next].time_s : kNever;
      const double then = std::min(end, arrival);
      for (const std::size_t id : active) {
        left[id] -= (then - now) / static_cast<double>(active.size());
      }
      now = then;
      if (end <= arrival) {
        expected[*shortest] = now;
        active.erase(shortest);
      } else {
        active.push_back(next++);
      }
    }
    for (std::size_t id = 0; id < ends.size(); ++id) {
      CHECK(ends[id] == within(expected[id], kTolerance));
    }
  }
}

// The same by computing all rates anew at every change.
std::vector<double> ends_with_all_rates(const std::vector<double>& capacities,
                                        const std::vector<Arrival>& arrivals) {
  std::vector<double> ends(arrivals.size(), -1);
  std::vector<double> left;
  std::vector<std::size_t> active;
  for (const Arrival& arrival : arrivals) {
    left.push_back(arrival.transfer.bytes);
  }
  double now = 0;
  std::size_t next = 0;
  while (next < arrivals.size() || !active.empty()) {
    std::vector<oracle::Flow> flows;
    for (const std::size_t id : active) {
      const Transfer& transfer = arrivals[id].transfer;
      oracle::Flow& flow = flows.emplace_back();
      for (const std::uint32_t port : {transfer.send_port, transfer.receive_port}) {
        if (port != kNoPort) {
          flow.links.push_back(port);
        }
      }
      flow.parts.assign(flow.links.size(), 1);
      flow.cap = 1 / transfer.per_byte_s;
    }
    const std::vector<double> rate =
        oracle::rates(capacities, flows, std::vector<char>(flows.size(), 1));
    double then = next < arrivals.size() ? arrivals[next].time_s : kNever;
    std::size_t first = active.size();
    for (std::size_t i = 0; i < active.size(); ++i) {
      const double end = now + left[active[i]] / rate[i];
      if (end < then) {
        then = end;
        first = i;
      }
    }
    for (std::size_t i = 0; i < active.size(); ++i) {
      left[active[i]] -= rate[i] * (then - now);
    }
    now = then;
    if (first < active.size()) {
      ends[active[first]] = now;
      active.erase(active.begin() + static_cast<std::ptrdiff_t>(first));
    } else {
      active.push_back(next++);
    }
  }
  return ends;
}

TEST_CASE("ports: random flows end as if all rates were computed at every change") {
  constexpr std::uint64_t kSeed = 5;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    const std::int64_t ports = random.integer(1, 24);
    std::vector<double> capacities;
    for (std::int64_t port = 0; port < ports; ++port) {
      capacities.push_back(random.integer(0, 1) == 0 ? 1 : random.uniform(0.3, 3));
    }
    const auto some_port = [&] {
      const std::int64_t port = random.integer(0, ports);
      return port == ports ? kNoPort : static_cast<std::uint32_t>(port);
    };
    std::vector<Arrival> arrivals;
    double time = 0;
    for (std::uint32_t id = 0; id < 80; ++id) {
      time += random.integer(0, 2) == 0 ? 0 : random.uniform(0, 1);
      Transfer transfer{
          .id = id, .per_byte_s = random.uniform(0.2, 2), .bytes = random.uniform(0.1, 9)};
      transfer.send_port = some_port();
      transfer.receive_port = some_port();
      if (transfer.receive_port == transfer.send_port) {
        transfer.receive_port = kNoPort;
      }
      arrivals.push_back({time, transfer});
    }
    const auto ends = run(PortNetwork(capacities), arrivals);
    const auto expected = ends_with_all_rates(capacities, arrivals);
    for (std::size_t id = 0; id < ends.size(); ++id) {
      CHECK(ends[id] == within(expected[id], kTolerance));
    }
  }
}

} // namespace
} // namespace stepsim::links
