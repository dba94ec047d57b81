#include "links/flow/max_min.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace stepsim::links {
namespace {

constexpr double kNoLimit = std::numeric_limits<double>::infinity();

struct Instance {
  std::vector<double> capacity;
  std::vector<std::uint32_t> path_begin{0};
  std::vector<std::uint32_t> path{};
  std::vector<double> limit{};

  void flow(const std::vector<std::uint32_t>& ports, double own_limit = kNoLimit) {
    path.insert(path.end(), ports.begin(), ports.end());
    path_begin.push_back(static_cast<std::uint32_t>(path.size()));
    limit.push_back(own_limit);
  }
  [[nodiscard]] std::vector<double> rates() const {
    std::vector<double> result(limit.size());
    max_min(capacity, {path_begin, path, limit}, result);
    return result;
  }
};

TEST_CASE("max-min: three flows share one port equally, to the last crumb") {
  Instance instance{.capacity = {10}};
  for (int i = 0; i < 3; ++i) {
    instance.flow({0});
  }
  for (const double rate : instance.rates()) {
    CHECK(rate == 10.0 / 3);
  }
}

// Bertsekas, Gallager: a long flow over ports 0 and 1, a short one on each; port 1 is wider.
TEST_CASE("max-min: what a flow cannot use goes to the others on its port") {
  Instance instance{.capacity = {1, 3}};
  instance.flow({0, 1});
  instance.flow({0});
  instance.flow({1});
  const auto rates = instance.rates();
  CHECK(rates[0] == 1.0 / 2);
  CHECK(rates[1] == 1.0 / 2);
  CHECK(rates[2] == 3 - 1.0 / 2);
}

TEST_CASE("max-min: a flow with a limit of its own leaves the rest") {
  Instance instance{.capacity = {9}};
  instance.flow({0}, 1);
  instance.flow({0});
  instance.flow({0});
  instance.flow({}, 5);
  instance.flow({});
  const auto rates = instance.rates();
  CHECK(rates[0] == 1);
  CHECK(rates[1] == (9.0 - 1) / 2);
  CHECK(rates[2] == (9.0 - 1) / 2);
  CHECK(rates[3] == 5);
  CHECK(rates[4] == kNoLimit);
}

// The definition itself: every flow has its limit or a full port on which nobody has more.
TEST_CASE("max-min: random instances have no flow that could get more") {
  constexpr std::uint64_t kSeed = 7;
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 300; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    Instance instance;
    const auto ports = static_cast<std::uint32_t>(random.integer(1, 12));
    for (std::uint32_t port = 0; port < ports; ++port) {
      instance.capacity.push_back(random.uniform(0.1, 10));
    }
    const std::int64_t flows = random.integer(1, 40);
    for (std::int64_t flow = 0; flow < flows; ++flow) {
      std::vector<std::uint32_t> path;
      for (std::uint32_t port = 0; port < ports; ++port) {
        if (random.uniform() < 0.3) {
          path.push_back(port);
        }
      }
      const bool limited = path.empty() || random.uniform() < 0.2;
      instance.flow(path, limited ? random.uniform(0.01, 3) : kNoLimit);
    }
    const auto rates = instance.rates();
    constexpr double kSlack = 1e-9;
    std::vector<double> load(ports, 0.0);
    std::vector<double> largest(ports, 0.0);
    for (std::size_t flow = 0; flow < rates.size(); ++flow) {
      for (std::uint32_t i = instance.path_begin[flow]; i < instance.path_begin[flow + 1]; ++i) {
        load[instance.path[i]] += rates[flow];
        largest[instance.path[i]] = std::max(largest[instance.path[i]], rates[flow]);
      }
    }
    for (std::size_t port = 0; port < ports; ++port) {
      CHECK(load[port] <= instance.capacity[port] * (1 + kSlack));
    }
    for (std::size_t flow = 0; flow < rates.size(); ++flow) {
      bool stopped = rates[flow] >= instance.limit[flow] * (1 - kSlack);
      CHECK(rates[flow] <= instance.limit[flow]);
      for (std::uint32_t i = instance.path_begin[flow]; i < instance.path_begin[flow + 1]; ++i) {
        const std::uint32_t port = instance.path[i];
        stopped = stopped || (load[port] >= instance.capacity[port] * (1 - kSlack) &&
                              rates[flow] >= largest[port] * (1 - kSlack));
      }
      CHECK(stopped);
    }
  }
}

} // namespace
} // namespace stepsim::links
