// Packet level: a permutation over a leaf-spine of 1,024 hosts (16 leaves of 64, 64 spines), and
// TCP incasts on a star. Counters: packet-hops and events per CPU second, packet-hops of one run,
// the slowest flow (simulated us), peak memory of the process so far (MB).
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <numeric>

#include "base/random.hpp"
#include "links/fabric/routes.hpp"
#include "links/fabric/topology.hpp"
#include "links/packet/packet_network.hpp"

namespace {

using namespace stepsim::links;

void report(benchmark::State& state, const PacketFlowsResult& result) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  Picoseconds slowest = 0;
  for (const MessageResult& flow : result.flows) {
    slowest = std::max(slowest, flow.complete() ? flow.fct() : 0);
  }
  const auto rate = [&](std::uint64_t count) {
    return benchmark::Counter(static_cast<double>(count),
                              benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["hops/s"] = rate(result.packet_hops);
  state.counters["events/s"] = rate(result.events);
  state.counters["hops"] = static_cast<double>(result.packet_hops);
  state.counters["slowest_us"] = to_seconds(slowest) * 1e6;
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
}

// Fisher-Yates; hosts that would send to themselves send to their neighbour.
std::vector<PacketFlow> permutation(std::uint32_t hosts, std::int64_t bytes) {
  std::vector<NodeId> to(hosts);
  std::iota(to.begin(), to.end(), 0);
  for (std::uint32_t i = hosts - 1; i > 0; --i) {
    std::swap(to[i], to[stepsim::base::pick(stepsim::base::hash(7, i), i + 1)]);
  }
  std::vector<PacketFlow> flows;
  for (NodeId host = 0; host < hosts; ++host) {
    const NodeId other = to[host] == host ? (host + 1) % hosts : to[host];
    flows.push_back({.src = host, .dst = other, .size_bytes = bytes});
  }
  return flows;
}

void permutation_1024(benchmark::State& state, TransportKind kind, LoadBalancing balancing) {
  const LinkSpeed link{.latency_s = 1e-6, .bandwidth_Bps = 1.25e9};
  const Fabric fabric =
      leaf_spine({.leaves = 16, .hosts_per_leaf = 64, .spines = 64, .host = link, .uplink = link});
  const Routes routes(fabric);
  PacketOptions options;
  options.transport.kind = kind;
  options.load_balancing = balancing;
  const std::vector<PacketFlow> flows = permutation(1024, 500 * 1460);
  PacketFlowsResult result;
  for (auto _ : state) {
    result = run_packet_flows(fabric, routes, options, flows);
  }
  report(state, result);
}

void incast(benchmark::State& state, TransportKind kind) {
  const auto senders = static_cast<std::uint32_t>(state.range(0));
  const Fabric fabric = star(senders + 1, {.latency_s = 1e-6, .bandwidth_Bps = 1.25e9});
  const Routes routes(fabric);
  PacketOptions options;
  options.transport.kind = kind;
  std::vector<PacketFlow> flows;
  for (NodeId host = 0; host < senders; ++host) {
    flows.push_back({.src = host, .dst = senders, .size_bytes = 10'000'000, .loss_bound = 0.1});
  }
  PacketFlowsResult result;
  for (auto _ : state) {
    result = run_packet_flows(fabric, routes, options, flows);
  }
  report(state, result);
}

BENCHMARK_CAPTURE(incast, reno, TransportKind::reno)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(incast, dctcp, TransportKind::dctcp)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(incast, dlcp, TransportKind::dlcp)->Arg(16)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(permutation_1024, dctcp_ecmp, TransportKind::dctcp, LoadBalancing::ecmp)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(permutation_1024, reno_spray, TransportKind::reno, LoadBalancing::spray_random)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(permutation_1024, raw_ecmp, TransportKind::raw, LoadBalancing::ecmp)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(permutation_1024, dlcp_ecmp, TransportKind::dlcp, LoadBalancing::ecmp)
    ->Unit(benchmark::kMillisecond);

} // namespace
