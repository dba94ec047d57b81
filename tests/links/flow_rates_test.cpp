#include "links/flow/flow_rates.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "links/flow/changing_rates.hpp"
#include "links/flow_oracle.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::links {
namespace {

using stepsim::testing::within;

constexpr double kExact = 1e-9;
constexpr double kNone = oracle::kInfinity; // no cap

// The rates of all classes in turn: every class fills what the classes before it leave.
std::vector<double> rates(const std::vector<double>& capacity,
                          const std::vector<oracle::Flow>& flows) {
  std::vector<double> rates(flows.size()), left = capacity;
  ProgressiveFilling filling(capacity.size());
  int classes = 0;
  for (const oracle::Flow& flow : flows) {
    classes = std::max(classes, static_cast<int>(flow.priority) + 1);
  }
  for (int number = 0; number < classes; ++number) {
    std::vector<ProgressiveFilling::Flow> members;
    std::vector<std::size_t> ids;
    for (std::size_t f = 0; f < flows.size(); ++f) {
      if (static_cast<int>(flows[f].priority) == number) {
        members.push_back({flows[f].links, flows[f].parts.data(), flows[f].weight,
                           flows[f].cap / flows[f].weight});
        ids.push_back(f);
      }
    }
    std::vector<double> level(members.size());
    filling.fill(left, capacity, members, level);
    for (std::size_t i = 0; i < members.size(); ++i) {
      const oracle::Flow& flow = flows[ids[i]];
      rates[ids[i]] = flow.weight * level[i];
      for (std::size_t l = 0; l < flow.links.size(); ++l) {
        left[flow.links[l]] -= flow.weight * flow.parts[l] * level[i];
      }
    }
  }
  return rates;
}

oracle::Flow on(std::vector<std::uint32_t> links) {
  oracle::Flow flow;
  flow.parts.assign(links.size(), 1);
  flow.links = std::move(links);
  return flow;
}

void check_equal(const std::vector<double>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CAPTURE(i);
    CHECK(found[i] == within(expected[i], kExact));
  }
}

TEST_CASE("flow rates: parking lot, the tightest link first (M2, M4, M12)") {
  check_equal(rates({1.25, 0.5}, {on({0, 1}), on({0}), on({1})}),
              {0.5 / 2, 1.25 - 0.5 / 2, 0.5 / 2});
  check_equal(rates({1.25, 0.75, 1.0, 0.5}, {on({0, 1, 2, 3}), on({0}), on({1}), on({2}), on({3})}),
              {0.25, 1.25 - 0.25, 0.75 - 0.25, 1.0 - 0.25, 0.25});
  check_equal(rates({1.0, 0.6, 0.9}, {on({0, 1}), on({0}), on({0}), on({1, 2}), on({2})}),
              {0.6 / 2, (1 - 0.3) / 2, (1 - 0.3) / 2, 0.6 / 2, 0.9 - 0.3});
}

TEST_CASE("flow rates: a cap leaves the rest to the others, weights divide a link (M10, M13)") {
  std::vector<oracle::Flow> flows{on({0}), on({0}), on({0})};
  flows[0].cap = 0.25;
  check_equal(rates({1.25}, flows), {0.25, (1.25 - 0.25) / 2, (1.25 - 0.25) / 2});
  flows[0].cap = kNone;
  flows[2].weight = 3;
  check_equal(rates({1.25}, flows), {1.25 / 5, 1.25 / 5, 1.25 * 3 / 5});
}

TEST_CASE("flow rates: sprayed flows put their part on each branch (M11)") {
  std::vector<oracle::Flow> flows(8);
  for (std::uint32_t f = 0; f < 8; ++f) { // links 0..3 uplinks, 4..11 hosts
    flows[f] = {.links = {4 + f, 0, 1, 2, 3}, .parts = {1, 0.25, 0.25, 0.25, 0.25}};
  }
  const std::vector<double> found = rates(std::vector<double>(12, 1.25), flows);
  check_equal(found, std::vector<double>(8, 1.25 * 4 / 8));
}

TEST_CASE("flow rates: classes in turn; a full link stops the later ones, elsewhere too (M9)") {
  std::vector<oracle::Flow> flows{on({0}), on({0, 1}), on({1})};
  flows[1].priority = flows[2].priority = 1;
  check_equal(rates({1.25, 1.25}, flows), {1.25, 0, 1.25});
  flows[0].cap = 1; // leaves 0.25 to the low flow, which leaves 1 on link 1
  check_equal(rates({1.25, 1.25}, flows), {1, 0.25, 1});
  flows[0].cap = 1.25 * (1 - 1e-10); // less than 1e-9 of the link is left: nothing
  check_equal(rates({1.25, 1.25}, flows), {1.25 * (1 - 1e-10), 0, 1.25});
}

TEST_CASE("flow rates: no link and no cap is no limit; a link without capacity carries nothing") {
  std::vector<oracle::Flow> flows{on({}), on({}), on({0}), on({0, 1})};
  flows[1].cap = 3;
  const std::vector<double> found = rates({0, 5}, flows);
  CHECK(found[0] == oracle::kInfinity);
  CHECK(found[1] == 3);
  CHECK(found[2] == 0);
  CHECK(found[3] == 0);
  CHECK(rates({1}, {}).empty());
}

// PKT 6.1, for each class given what the classes before use.
void check_fair(const std::vector<double>& capacity, const std::vector<oracle::Flow>& flows,
                const std::vector<double>& rate) {
  std::vector<double> load(capacity.size(), 0);
  for (std::size_t f = 0; f < flows.size(); ++f) {
    for (std::size_t i = 0; i < flows[f].links.size(); ++i) {
      load[flows[f].links[i]] += flows[f].parts[i] * rate[f];
    }
  }
  for (std::size_t link = 0; link < capacity.size(); ++link) {
    CHECK(load[link] <= capacity[link] * (1 + kExact));
  }
  for (std::size_t f = 0; f < flows.size(); ++f) {
    bool bound = rate[f] >= flows[f].cap * (1 - kExact);
    for (const std::uint32_t link : flows[f].links) {
      double used = 0, highest = 0;
      for (std::size_t g = 0; g < flows.size(); ++g) {
        const double part = oracle::part(flows[g], link);
        if (part > 0 && flows[g].priority <= flows[f].priority) {
          used += part * rate[g];
          highest = flows[g].priority == flows[f].priority
                        ? std::max(highest, rate[g] / flows[g].weight)
                        : highest;
        }
      }
      bound = bound || (used >= capacity[link] * (1 - kExact) &&
                        highest <= rate[f] / flows[f].weight * (1 + kExact));
    }
    CAPTURE(f);
    CHECK(bound);
  }
}

TEST_CASE("flow rates: random networks are fair, agree with the definition, and know no order") {
  constexpr std::uint64_t kSeed = 11;
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 200; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    const oracle::Variety variety = oracle::variety(round);
    const std::vector<double> capacity = oracle::capacities(random, variety);
    std::vector<oracle::Flow> flows;
    for (std::uint32_t f = 0; f < variety.flows; ++f) {
      flows.push_back(oracle::flow(random, variety));
    }
    const std::vector<double> found = rates(capacity, flows);
    check_equal(found, oracle::rates(capacity, flows, std::vector<char>(flows.size(), 1)));
    check_fair(capacity, flows, found);

    // Links and flows the other way round.
    const auto last = static_cast<std::uint32_t>(capacity.size() - 1);
    std::vector<oracle::Flow> turned(flows.rbegin(), flows.rend());
    for (oracle::Flow& flow : turned) {
      for (std::uint32_t& link : flow.links) {
        link = last - link;
      }
    }
    std::vector<double> other = rates({capacity.rbegin(), capacity.rend()}, turned);
    std::reverse(other.begin(), other.end());
    check_equal(other, found);

    // Everything four times as fast.
    std::vector<double> faster = capacity;
    std::vector<oracle::Flow> scaled = flows;
    for (double& each : faster) {
      each *= 4;
    }
    for (oracle::Flow& flow : scaled) {
      flow.cap *= 4;
    }
    std::vector<double> quarter = rates(faster, scaled);
    for (double& each : quarter) {
      each /= 4;
    }
    check_equal(quarter, found);

    // One flow less: the smallest rate never falls.
    if (variety.classes == 1) {
      const double smallest = *std::min_element(found.begin(), found.end());
      flows.pop_back();
      const std::vector<double> fewer = rates(capacity, flows);
      CHECK(*std::min_element(fewer.begin(), fewer.end()) >= smallest * (1 - kExact));
    }
  }
}

TEST_CASE("flow rates: the lexicographically largest of all allocations of small instances") {
  constexpr std::uint64_t kSeed = 5;
  base::RandomStream random({.seed = kSeed});
  constexpr int kSteps =
      12; // 12 is divisible by 1, 2, 3, 4: shares of up to 4 flows are on the grid
  int on_grid = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    const oracle::Variety variety{.links = 3, .flows = 3, .longest_path = 2};
    std::vector<double> capacity;
    for (int link = 0; link < 3; ++link) {
      capacity.push_back(static_cast<double>(random.integer(1, 3)));
    }
    std::vector<oracle::Flow> flows;
    for (int f = 0; f < 3; ++f) {
      flows.push_back(oracle::flow(random, variety));
    }
    std::vector<double> best;
    std::vector<double> best_sorted;
    const int most = 3 * kSteps;
    for (int x = 0; x <= most; ++x) {
      for (int y = 0; y <= most; ++y) {
        for (int z = 0; z <= most; ++z) {
          const std::vector<double> rate{x / 12.0, y / 12.0, z / 12.0};
          bool fits = true;
          for (std::uint32_t link = 0; link < 3; ++link) {
            double load = 0;
            for (std::size_t f = 0; f < 3; ++f) {
              load += oracle::part(flows[f], link) * rate[f];
            }
            fits = fits && load <= capacity[link] + 1e-12;
          }
          std::vector<double> sorted = rate;
          std::sort(sorted.begin(), sorted.end());
          if (fits && (best.empty() || sorted > best_sorted)) {
            best = rate;
            best_sorted = sorted;
          }
        }
      }
    }
    const std::vector<double> found = rates(capacity, flows);
    std::vector<double> sorted = found;
    std::sort(sorted.begin(), sorted.end());
    const bool grid = std::all_of(found.begin(), found.end(), [](double rate) {
      return std::abs(rate * kSteps - std::round(rate * kSteps)) < 1e-9;
    });
    on_grid += grid ? 1 : 0;
    if (grid) {
      check_equal(found, best);
    } else {
      CHECK(sorted > best_sorted);
    }
  }
  CHECK(on_grid > 30);
}

// Flows come and go in small and large numbers.
TEST_CASE("changing rates: after every change what the definition gives for the flows there are") {
  constexpr std::uint64_t kSeed = 13;
  base::RandomStream random({.seed = kSeed});
  std::uint64_t solves = 0, full = 0;
  for (int round = 0; round < 60; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    const oracle::Variety variety = oracle::variety(round);
    const std::vector<double> capacity = oracle::capacities(random, variety);
    ChangingRates changing(capacity, variety.classes);
    std::vector<oracle::Flow> flows;
    std::vector<std::uint32_t> places;
    std::vector<double> known; // as reported by solve()
    for (int step = 0; step < 60; ++step) {
      CAPTURE(step);
      const bool much = step % 20 == 0;
      const std::int64_t less = std::min<std::int64_t>(random.integer(0, much ? 30 : 2),
                                                       static_cast<std::int64_t>(flows.size()));
      for (std::int64_t i = 0; i < less; ++i) {
        const auto f = static_cast<std::size_t>(
            random.integer(0, static_cast<std::int64_t>(flows.size()) - 1));
        changing.remove(places[f]);
        flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(f));
        places.erase(places.begin() + static_cast<std::ptrdiff_t>(f));
      }
      for (std::int64_t more = random.integer(0, much ? 40 : 2); more > 0; --more) {
        flows.push_back(oracle::flow(random, variety));
        const oracle::Flow& flow = flows.back();
        const std::uint32_t path = changing.paths.add({flow.links, flow.parts, 0});
        places.push_back(changing.add({path, flow.priority, flow.weight, flow.cap}));
        known.resize(std::max<std::size_t>(known.size(), places.back() + 1));
        known[places.back()] = 0;
      }
      for (const std::uint32_t place : changing.solve()) {
        known[place] = changing.rate(place);
      }
      ++solves;
      const auto expected = oracle::rates(capacity, flows, std::vector<char>(flows.size(), 1));
      for (std::size_t f = 0; f < flows.size(); ++f) {
        CAPTURE(f);
        CHECK(changing.rate(places[f]) == within(expected[f], kExact));
        CHECK(known[places[f]] == changing.rate(places[f]));
      }
    }
    full += changing.full_solves();
  }
  CHECK(full > solves / 20); // both ways were taken
  CHECK(full < solves / 2);
}

TEST_CASE("changing rates: a change far away is nobody's business") {
  ChangingRates changing(std::vector<double>(40, 1e9), 1);
  std::vector<std::uint32_t> places;
  for (std::uint32_t pair = 0; pair < 20; ++pair) { // two flows on each pair of links
    const std::uint32_t path = changing.paths.add({{2 * pair, 2 * pair + 1}, {}, 0});
    places.push_back(changing.add({.path = path}));
    places.push_back(changing.add({.path = path}));
  }
  CHECK(changing.solve().size() == 40);
  changing.remove(places[6]);
  const auto changed = changing.solve();
  REQUIRE(changed.size() == 1);
  CHECK(changed[0] == places[7]);
  CHECK(changing.rate(places[7]) == 1e9);
  CHECK(changing.rate(places[8]) == 1e9 / 2);
}

} // namespace
} // namespace stepsim::links
