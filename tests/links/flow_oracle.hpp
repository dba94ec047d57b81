#pragma once
// The flow level once more, written down from its definition as plainly as possible (PKT 6.2 to
// 6.4): every sum and every rate anew in every round and at every event.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace stepsim::links::oracle {

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Flow {
  std::vector<std::uint32_t> links;
  std::vector<double> parts; // [links]
  double bytes = 0;
  double start = 0;
  double latency = 0;
  std::uint32_t priority = 0;
  double weight = 1;
  double cap = kInfinity;
};

inline double part(const Flow& flow, std::uint32_t link) {
  for (std::size_t i = 0; i < flow.links.size(); ++i) {
    if (flow.links[i] == link) {
      return flow.parts[i];
    }
  }
  return 0;
}

// Rates of the flows whose `active` is set, 0 for others.
inline std::vector<double> rates(const std::vector<double>& capacity,
                                 const std::vector<Flow>& flows, const std::vector<char>& active) {
  std::vector<double> rate(flows.size(), 0);
  for (std::uint32_t priority = 0; priority < 8; ++priority) {
    std::vector<double> left = capacity;
    std::vector<char> open(flows.size(), 0);
    for (std::size_t f = 0; f < flows.size(); ++f) {
      open[f] = active[f] != 0 && flows[f].priority == priority ? 1 : 0;
      for (std::size_t i = 0; flows[f].priority < priority && i < flows[f].links.size(); ++i) {
        left[flows[f].links[i]] -= flows[f].parts[i] * rate[f];
      }
    }
    const std::vector<double> found = left;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      for (const std::uint32_t link : flows[f].links) {
        open[f] = open[f] != 0 && found[link] > 1e-9 * capacity[link] ? 1 : 0;
      }
    }
    while (std::count(open.begin(), open.end(), 1) > 0) {
      std::vector<double> share(capacity.size(), 0), level(capacity.size(), kInfinity);
      double lowest = kInfinity;
      for (std::size_t f = 0; f < flows.size(); ++f) {
        if (open[f] == 0) {
          continue;
        }
        lowest = std::min(lowest, flows[f].cap / flows[f].weight);
        for (std::size_t i = 0; i < flows[f].links.size(); ++i) {
          share[flows[f].links[i]] += flows[f].weight * flows[f].parts[i];
        }
      }
      for (std::size_t link = 0; link < capacity.size(); ++link) {
        if (share[link] > 0) {
          level[link] = std::max(0.0, left[link]) / share[link];
          lowest = std::min(lowest, level[link]);
        }
      }
      for (std::size_t f = 0; f < flows.size(); ++f) {
        bool stops = flows[f].cap / flows[f].weight <= lowest * (1 + 1e-12);
        for (const std::uint32_t link : flows[f].links) {
          stops = stops || level[link] <= lowest * (1 + 1e-12);
        }
        if (open[f] != 0 && stops) {
          open[f] = 0;
          rate[f] = flows[f].weight * lowest;
          for (std::size_t i = 0; i < flows[f].links.size(); ++i) {
            left[flows[f].links[i]] -= flows[f].parts[i] * rate[f];
          }
        }
      }
    }
  }
  return rate;
}

// End times.
inline std::vector<double> ends(const std::vector<double>& capacity,
                                const std::vector<Flow>& flows) {
  std::vector<double> end(flows.size(), kInfinity), left;
  std::vector<char> active(flows.size(), 0), begun(flows.size(), 0);
  for (const Flow& flow : flows) {
    left.push_back(flow.bytes);
  }
  double now = 0;
  for (;;) {
    const std::vector<double> rate = rates(capacity, flows, active);
    double next = kInfinity;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (begun[f] == 0) {
        next = std::min(next, flows[f].start + flows[f].latency);
      } else if (active[f] != 0 && rate[f] > 0) {
        next = std::min(next, now + left[f] / rate[f]);
      }
    }
    if (next == kInfinity) {
      return end;
    }
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (active[f] == 0) {
        continue;
      }
      left[f] -= rate[f] * (next - now);
      if (left[f] <= std::min(1e-3, 1e-9 * flows[f].bytes)) {
        active[f] = 0;
        end[f] = next;
      }
    }
    now = next;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (begun[f] == 0 && flows[f].start + flows[f].latency <= now) {
        begun[f] = active[f] = 1;
      }
    }
  }
}

struct Variety {
  std::uint32_t links = 10;
  std::uint32_t flows = 30;
  std::uint32_t classes = 1;
  std::uint32_t longest_path = 4;
  bool parts = false, weights = false, caps = false;
  bool round_numbers = false; // many ties
};

inline std::vector<double> capacities(base::RandomStream& random, const Variety& variety) {
  std::vector<double> result;
  for (std::uint32_t link = 0; link < variety.links; ++link) {
    result.push_back(variety.round_numbers ? static_cast<double>(random.integer(1, 3)) * 1e9
                                           : random.uniform(0.2e9, 2e9));
  }
  return result;
}

inline Flow flow(base::RandomStream& random, const Variety& variety) {
  Flow result;
  const std::int64_t count = random.integer(1, variety.longest_path);
  while (static_cast<std::int64_t>(result.links.size()) < count) {
    const auto link = static_cast<std::uint32_t>(random.integer(0, variety.links - 1));
    if (std::count(result.links.begin(), result.links.end(), link) == 0) {
      result.links.push_back(link);
      result.parts.push_back(variety.parts ? 1.0 / static_cast<double>(random.integer(1, 4)) : 1.0);
    }
  }
  result.bytes = variety.round_numbers ? static_cast<double>(random.integer(1, 4)) * 1e7
                                       : random.uniform(1e6, 1e8);
  result.start = variety.round_numbers ? 0.01 * static_cast<double>(random.integer(0, 3))
                                       : random.uniform(0, 0.2);
  result.latency = variety.round_numbers ? 0 : random.uniform(0, 1e-3);
  result.priority = static_cast<std::uint32_t>(random.integer(0, variety.classes - 1));
  result.weight = variety.weights ? random.uniform(0.2, 3) : 1.0;
  result.cap = variety.caps && random.uniform() < 0.3 ? random.uniform(1e7, 1e9) : kInfinity;
  return result;
}

// The varieties that random tests go through, by round.
inline Variety variety(int round) {
  Variety result;
  result.links = 4 + static_cast<std::uint32_t>(round) % 30;
  result.flows = 10 + static_cast<std::uint32_t>(round * 7) % 60;
  result.classes = round % 3 == 0 ? 3 : 1;
  result.parts = round % 2 == 0;
  result.weights = round % 5 < 2;
  result.caps = round % 7 < 3;
  result.round_numbers = round % 4 == 3;
  return result;
}

} // namespace stepsim::links::oracle
