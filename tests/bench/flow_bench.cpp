// Random flows on a leaf-spine of 1,024 hosts at the flow level: the instance of maxmin_bench (same
// generator, spine = dst mod 32; 10 Gbit/s, 5 us a link). Prints the work and the best time.
// usage: flow_bench [FLOWS [REPETITIONS]]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "links/fabric/topology.hpp"
#include "links/flow/flow_run.hpp"

int main(int argc, char** argv) {
  using namespace stepsim::links;
  constexpr std::uint32_t kLeaves = 32;
  constexpr std::uint32_t kHosts = 1024;
  const int count = argc > 1 ? std::atoi(argv[1]) : 1024;
  const int repetitions = argc > 2 ? std::atoi(argv[2]) : 5;
  const LinkSpeed link{5e-6, 1.25e9};
  const Fabric fabric = leaf_spine({kLeaves, kHosts / kLeaves, kLeaves, link, link});
  std::mt19937_64 random(1);
  std::vector<FlowSpec> flows;
  for (int i = 0; i < count; ++i) {
    FlowSpec flow;
    flow.src = static_cast<NodeId>(random() % kHosts);
    flow.dst = static_cast<NodeId>(random() % (kHosts - 1));
    flow.dst += flow.dst >= flow.src ? 1 : 0;
    flow.via = flow.dst % kLeaves;
    flow.bytes = static_cast<double>(1000000 + random() % 99000000);
    flows.push_back(flow);
  }
  const Routes routes(fabric);
  const std::vector<FlowPath> paths = flow_paths(fabric, routes, flows, {});
  double best = 1e300;
  FlowRun run;
  for (int repetition = 0; repetition < repetitions; ++repetition) {
    const auto begin = std::chrono::steady_clock::now();
    run = run_flows(fabric, paths, flows);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    best = std::min(best, took.count());
  }
  std::printf("flows=%d solves=%llu full=%llu sim=%.9f run=%.6f s  flows/s=%.0f  solves/s=%.0f\n",
              count, static_cast<unsigned long long>(run.solves),
              static_cast<unsigned long long>(run.full_solves), run.finish_s, best, count / best,
              static_cast<double>(run.solves) / best);
  return 0;
}
