// Times of flows at the flow level: worked examples of PKT 6.6 (the others stand as lists of flows
// in tests/run/flows_test.cpp), the properties of PKT 15, and the whole simulation against the
// plain one of flow_oracle.hpp.
#include "links/flow/flow_level.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "links/fabric/topology.hpp"
#include "links/flow/flow_network.hpp"
#include "links/flow/flow_run.hpp"
#include "links/flow_oracle.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::links {
namespace {

using stepsim::testing::within;

constexpr double kExact = 1e-9;
constexpr double kC = 1.25e9;
constexpr double kMB = 1e6;

// Host i = node i; link i leads from node i to node i + 1, without latency unless given.
Fabric line(const std::vector<double>& capacity, double latency = 0) {
  Fabric fabric;
  for (std::uint32_t i = 0; i <= capacity.size(); ++i) {
    fabric.node_names.push_back("h" + std::to_string(i));
  }
  fabric.hosts = static_cast<std::uint32_t>(capacity.size()) + 1;
  for (std::uint32_t i = 0; i < capacity.size(); ++i) {
    fabric.links.push_back({i, i + 1, latency, capacity[i]});
    fabric.link_names.push_back("l" + std::to_string(i));
  }
  return fabric;
}

// A flow over the links first .. last of a line.
FlowSpec over(std::uint32_t first, std::uint32_t last, double bytes, double start = 0) {
  FlowSpec flow{.src = first, .dst = last + 1, .bytes = bytes, .start_s = start};
  for (LinkId link = first; link <= last; ++link) {
    flow.path.push_back(link);
  }
  return flow;
}

FlowRun run_line(const std::vector<double>& capacity, const std::vector<FlowSpec>& flows,
                 FlowRunOptions options = {}) {
  const Fabric fabric = line(capacity);
  std::vector<FlowPath> paths;
  for (const FlowSpec& flow : flows) {
    paths.push_back(single_path(fabric, flow.path));
  }
  return run_flows(fabric, paths, flows, options);
}

// The fraction of the link's capacity that is used until the last end.
double utilization(const FlowRun& run, const Fabric& fabric, LinkId link) {
  return run.links[link].bytes / (fabric.links[link].bandwidth_Bps * run.finish_s);
}

void check_ends(const FlowRun& run, const std::vector<double>& expected) {
  REQUIRE(run.end_s.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i);
    CHECK(run.end_s[i] == within(expected[i], kExact));
  }
}

TEST_CASE("flow level: parking lots (M3, M4)") {
  check_ends(run_line({kC, kC, kC, kC},
                      {over(0, 3, 250 * kMB), over(0, 0, 50 * kMB), over(1, 1, 100 * kMB),
                       over(2, 2, 150 * kMB), over(3, 3, 200 * kMB)}),
             {0.32 + 50 * kMB / kC, 0.08, 0.16, 0.24, 0.32});
  const FlowRun uneven =
      run_line({1.25e9, 0.75e9, 1.0e9, 0.5e9},
               {over(0, 3, 100 * kMB), over(0, 0, 100 * kMB), over(1, 1, 100 * kMB),
                over(2, 2, 100 * kMB), over(3, 3, 100 * kMB)});
  check_ends(uneven, {0.4, 0.1, 0.2, 0.1 / 0.75, 0.4});
  CHECK(uneven.end_s[0] == uneven.end_s[4]); // a tie is one instant
}

TEST_CASE("flow level: arrivals and start-up latency (M6, M7)") {
  const std::vector<FlowSpec> flows{over(0, 0, 125 * kMB), over(0, 0, 62.5 * kMB, 0.04)};
  check_ends(run_line({kC}, flows), {0.15, 0.14});
  // M7: both start at 0, their latencies are 0.01 and 0.05.
  const Fabric fabric = line({kC});
  const std::vector<FlowPath> paths{{{0}, {}, 0.01}, {{0}, {}, 0.05}};
  check_ends(run_flows(fabric, paths,
                       std::vector<FlowSpec>{over(0, 0, 125 * kMB), over(0, 0, 62.5 * kMB)}),
             {0.16, 0.15});
}

TEST_CASE("flow level: a lower class waits and goes on (M8, M9)") {
  std::vector<FlowSpec> flows{over(0, 0, 125 * kMB), over(0, 0, 62.5 * kMB, 0.02)};
  flows[0].priority = 5;
  flows[1].priority = 2;
  const FlowRun run = run_line({kC}, flows);
  check_ends(run, {0.15, 0.07});
  CHECK(run.links[0].busy_s == within(0.15, kExact));
  flows = {over(0, 0, 125 * kMB), over(0, 1, 125 * kMB), over(1, 1, 125 * kMB)};
  flows[1].priority = flows[2].priority = 2;
  check_ends(run_line({kC, kC}, flows), {0.1, 0.2, 0.1});
}

TEST_CASE("flow level: three links, departures that change nothing for others (M12)") {
  check_ends(run_line({1.0e9, 0.6e9, 0.9e9},
                      {over(0, 1, 100 * kMB), over(0, 0, 100 * kMB), over(0, 0, 100 * kMB),
                       over(1, 2, 100 * kMB), over(2, 2, 100 * kMB)}),
             {1.0 / 3, 2.0 / 7, 2.0 / 7, 1.0 / 3, 1.0 / 6});
}

TEST_CASE("flow level: nothing to send and nowhere to go take no time and no event") {
  std::vector<FlowSpec> flows{over(0, 0, 0, 3), {.src = 1, .dst = 1, .bytes = 5, .start_s = 2}};
  const FlowRun run = run_line({kC}, flows);
  check_ends(run, {3, 2});
  CHECK(run.events == 0);
  CHECK(run.solves == 0);
  CHECK(run_line({kC}, {}).end_s.empty());
}

TEST_CASE("flow level: flows that stand still, or run too long, are named, ten at most") {
  std::vector<FlowSpec> flows(12, over(0, 0, kMB));
  for (FlowSpec& flow : flows) {
    flow.cap_Bps = 0;
  }
  flows.push_back(over(0, 1, kMB)); // not one of them
  CHECK_THROWS_WITH_AS(
      (void)run_line({kC, kC}, flows),
      "these flows stand still: flow 0 (h0 -> h1), flow 1 (h0 -> h1), flow 2 (h0 -> h1), flow 3 "
      "(h0 -> h1), flow 4 (h0 -> h1), flow 5 (h0 -> h1), flow 6 (h0 -> h1), flow 7 (h0 -> h1), "
      "flow 8 (h0 -> h1), flow 9 (h0 -> h1), ...",
      SimulationError);
  CHECK_THROWS_WITH_AS((void)run_line({kC}, {over(0, 0, kC), over(0, 0, 2 * kC)}, {.limit_s = 2.5}),
                       "unfinished at the limit of simulated time: flow 1 (h0 -> h1)",
                       SimulationError);
  CHECK(run_line({kC}, {over(0, 0, kC), over(0, 0, 2 * kC)}, {.limit_s = 3}).finish_s ==
        within(3, kExact));
}

TEST_CASE("flow paths: the connection of a flow is its id; own paths must lead the way") {
  const Fabric fabric = leaf_spine({2, 4, 4, {1e-6, kC}, {1e-6, kC}});
  const Routes routes(fabric);
  std::vector<FlowSpec> flows(3, {.src = 1, .dst = 6, .bytes = 1});
  const auto paths = flow_paths(fabric, routes, flows, {.seed = 7});
  for (std::size_t id = 0; id < flows.size(); ++id) {
    CHECK(paths[id].links == routes.ecmp_path(1, 6, id, 7));
    CHECK(paths[id].latency_s == within(4e-6, kExact));
  }
  flows[1].via = 4;
  CHECK_THROWS_WITH_AS((void)flow_paths(fabric, routes, flows, {}),
                       "flow 1 (h1 -> h6): no way through spine 4", SimulationError);
  flows[1].via.reset();
  flows[2].path = {paths[0].links[0], paths[0].links[2]};
  CHECK_THROWS_WITH_AS((void)flow_paths(fabric, routes, flows, {}),
                       "flow 2 (h1 -> h6): its path does not lead from source to destination",
                       SimulationError);
}

// PKT 15.7, 15.10 and the whole against the definition.
struct Instance {
  std::vector<double> capacity;
  std::vector<oracle::Flow> flows;
};

Instance instance(base::RandomStream& random, int round) {
  const oracle::Variety variety = oracle::variety(round);
  Instance result{oracle::capacities(random, variety), {}};
  for (std::uint32_t f = 0; f < variety.flows; ++f) {
    result.flows.push_back(oracle::flow(random, variety));
  }
  return result;
}

// Stops at every multiple of `pause` too (0 = never), where nothing happens.
std::vector<double> ends(const Instance& instance, double scale = 1, double pause = 0) {
  std::vector<double> capacity = instance.capacity;
  for (double& value : capacity) {
    value *= scale;
  }
  FlowLevel level(capacity, 8);
  std::vector<std::uint32_t> order;
  for (std::uint32_t id = 0; id < instance.flows.size(); ++id) {
    order.push_back(id);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return instance.flows[a].start < instance.flows[b].start;
  });
  std::vector<double> end(order.size(), -1);
  std::vector<std::uint32_t> done;
  std::size_t next = 0;
  for (int pauses = 1;;) {
    const double start =
        next < order.size() ? instance.flows[order[next]].start / scale : oracle::kInfinity;
    double now = std::min(start, level.next_time());
    if (now == oracle::kInfinity) {
      return end;
    }
    if (pause > 0 && pauses * pause < now) {
      now = pauses++ * pause;
    }
    done.clear();
    level.advance(now, done);
    for (const std::uint32_t id : done) {
      end[id] = now;
    }
    for (; next < order.size() && instance.flows[order[next]].start / scale <= now; ++next) {
      const oracle::Flow& flow = instance.flows[order[next]];
      level.submit(now, {.id = order[next],
                         .path = level.add_path({flow.links, flow.parts, flow.latency / scale}),
                         .bytes = flow.bytes,
                         .priority = flow.priority,
                         .weight = flow.weight,
                         .cap_Bps = flow.cap * scale});
    }
  }
}

TEST_CASE("flow level: random flows end when the plain simulation says, however it is paused, and "
          "twice as fast on twice the capacity") {
  constexpr std::uint64_t kSeed = 21;
  base::RandomStream random({.seed = kSeed});
  for (int round = 0; round < 120; ++round) {
    CAPTURE(kSeed);
    CAPTURE(round);
    const Instance one = instance(random, round);
    const std::vector<double> expected = oracle::ends(one.capacity, one.flows);
    const std::vector<double> found = ends(one);
    const std::vector<double> paused = ends(one, 1, 0.0037);
    const std::vector<double> faster = ends(one, 2);
    CHECK(ends(one) == found);
    for (std::size_t id = 0; id < found.size(); ++id) {
      CAPTURE(id);
      CHECK(found[id] == within(expected[id], kExact));
      CHECK(paused[id] == within(found[id], kExact));
      CHECK(faster[id] == within(found[id] / 2, kExact));
    }
  }
}

TEST_CASE("flow level: random flows on a leaf-spine end when the plain simulation says") {
  constexpr std::uint64_t kSeed = 22;
  CAPTURE(kSeed);
  base::RandomStream random({.seed = kSeed});
  const Fabric fabric = leaf_spine({4, 8, 4, {5e-6, kC}, {5e-6, kC}});
  const Routes routes(fabric);
  for (const bool spray : {false, true}) {
    CAPTURE(spray);
    std::vector<FlowSpec> flows;
    for (int i = 0; i < 150; ++i) {
      FlowSpec flow;
      flow.src = static_cast<NodeId>(random.integer(0, 31));
      flow.dst = (flow.src + static_cast<NodeId>(random.integer(1, 31))) % 32;
      flow.bytes = static_cast<double>(random.integer(1000000, 100000000));
      flows.push_back(flow);
    }
    const auto paths = flow_paths(fabric, routes, flows, {.spray = spray});
    const FlowRun run = run_flows(fabric, paths, flows);
    std::vector<oracle::Flow> plain;
    std::vector<double> bytes(fabric.links.size(), 0);
    for (std::size_t id = 0; id < flows.size(); ++id) {
      plain.push_back({.links = paths[id].links,
                       .parts = paths[id].parts,
                       .bytes = flows[id].bytes,
                       .latency = paths[id].latency_s});
      plain.back().parts.resize(paths[id].links.size(), 1);
      for (std::size_t i = 0; i < paths[id].links.size(); ++i) {
        bytes[paths[id].links[i]] += plain.back().parts[i] * flows[id].bytes;
      }
    }
    check_ends(run, oracle::ends(link_capacities(fabric), plain));
    for (LinkId link = 0; link < fabric.links.size(); ++link) {
      CAPTURE(link);
      CHECK(run.links[link].bytes == within(bytes[link], kExact));
      CHECK(run.links[link].busy_s <= run.finish_s * (1 + kExact));
      CHECK(utilization(run, fabric, link) <= 1 + kExact);
    }
    CHECK(run.full_solves < run.solves / 4);
  }
}

TEST_CASE("flow level: bytes and busy time of links in the middle of a run") {
  FlowLevel level({kC});
  const std::uint32_t path = level.add_path({{0}, {}, 0.01});
  level.submit(0, {.id = 0, .path = path, .bytes = kC});
  std::vector<std::uint32_t> done;
  CHECK(level.next_time() == 0.01);
  level.advance(0.01, done);
  CHECK(level.next_time() == within(1.01, kExact));
  CHECK(level.link_use(0.26)[0].bytes == within(kC / 4, kExact));
  CHECK(level.link_use(0.26)[0].busy_s == within(0.25, kExact));
  level.advance(1.01, done);
  CHECK(done == std::vector<std::uint32_t>{0});
  CHECK(level.next_time() == oracle::kInfinity);
  CHECK(level.link_use(9)[0].bytes == kC);
  CHECK(level.link_use(9)[0].busy_s == within(1, kExact));
  CHECK(level.stalled().empty());
}

// Rank r sends its chunk of each step to r + 1 when it has received that of the step before.
double ring(FlowNetwork network, std::uint32_t ranks, double bytes) {
  const std::uint32_t steps = 2 * (ranks - 1);
  std::vector<std::uint32_t> sent(ranks, 0), received(ranks, 0), done;
  std::vector<char> sending(ranks, 0);
  double now = 0;
  const auto start = [&](std::uint32_t rank) {
    if (sending[rank] == 0 && sent[rank] < steps && sent[rank] <= received[rank]) {
      sending[rank] = 1;
      network.submit(now,
                     {.id = rank, .bytes = bytes / ranks, .src = rank, .dst = (rank + 1) % ranks});
    }
  };
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    start(rank);
  }
  for (double next = network.next_time(); next != kNever; next = network.next_time()) {
    now = next;
    done.clear();
    network.advance(now, done);
    for (const std::uint32_t rank : done) {
      sending[rank] = 0;
      ++sent[rank];
      ++received[(rank + 1) % ranks];
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      start(rank);
    }
  }
  return now;
}

TEST_CASE("flow network: a ring all-reduce on a star takes 2(N-1) (M/(N B) + 2 d) (V34, F10)") {
  const auto ring_on_star = [](std::uint32_t ranks, double bytes, double latency) {
    std::vector<NodeId> hosts(ranks);
    for (NodeId host = 0; host < ranks; ++host) {
      hosts[host] = host;
    }
    const auto fabric = std::make_shared<const RoutedFabric>(star(ranks, {latency, kC}));
    return ring(FlowNetwork({fabric, hosts, {}, 1}), ranks, bytes);
  };
  for (const double bytes : {553.4e6, 102.2e6}) {
    CHECK(ring_on_star(8, bytes, 0) == within(2 * 7.0 / 8 * bytes / kC, kExact));
  }
  CHECK(ring_on_star(8, 553.4e6, 0) == within(0.77476, 1e-4));
  CHECK(ring_on_star(8, 102.2e6, 0) == within(0.14308, 1e-4));
  for (const std::uint32_t ranks : {2U, 3U, 5U, 16U, 64U}) {
    CHECK(ring_on_star(ranks, 1e8, 5e-6) ==
          within(2 * (ranks - 1.0) * (1e8 / (ranks * kC) + 2 * 5e-6), kExact));
  }
}

TEST_CASE("flow network: a transfer's own latency and rate come with those of its path") {
  FlowNetwork network({std::make_shared<const RoutedFabric>(star(2, {1, 10})), {0, 1, 1}, {}, 1});
  std::vector<std::uint32_t> done;
  network.submit(0, {.id = 0, .latency_s = 3, .per_byte_s = 0.5, .bytes = 4, .src = 0, .dst = 1});
  network.submit(0, {.id = 1, .latency_s = 3, .bytes = 4, .src = 1, .dst = 2}); // one host
  CHECK(network.next_time() == 3);
  network.advance(3, done);
  CHECK(network.next_time() == 3);
  network.advance(3, done);
  CHECK(done == std::vector<std::uint32_t>{1});
  CHECK(network.next_time() == 3 + 2 * 1);
  network.advance(5, done);
  CHECK(network.next_time() == within(5 + 4 * 0.5, kExact));
  network.submit(5, {.id = 2, .per_byte_s = kNever, .bytes = 4, .src = 1, .dst = 0}); // never ends
  network.advance(network.next_time(), done);
  CHECK(done.back() == 0);
  CHECK_THROWS_WITH_AS((void)network.next_time(),
                       "these transfers between ranks stand still: 1 -> 0", SimulationError);
}

} // namespace
} // namespace stepsim::links
