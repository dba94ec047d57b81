#pragma once
// Small networks and jobs for the tests of training on networks. 10 Gbit/s: a full packet of 1500
// bytes takes tau = 1.2 us and carries 1460.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "layers/variability.hpp"
#include "links/fabric/topology.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/job/network_job.hpp"
#include "programs/operation_times.hpp"
#include "testing/tolerance.hpp"

namespace stepsim::programs {

using stepsim::testing::within;

inline constexpr double kRate = 1.25e9;
inline constexpr double kTauS = 1.2e-6;
inline constexpr std::int64_t kPayload = 1460;

inline JobNetwork on_flows(links::Fabric fabric) {
  JobNetwork network;
  network.fabric = std::make_shared<const links::RoutedFabric>(std::move(fabric));
  return network;
}

// Unlimited buffers, whole fp32 values in packets.
inline JobNetwork on_packets(links::Fabric fabric, links::TransportKind kind) {
  JobNetwork network = on_flows(std::move(fabric));
  network.packet.emplace();
  network.packet->value_bytes = 4;
  network.packet->transport.kind = kind;
  network.packet->buffer.scope = links::BufferScope::unlimited;
  return network;
}

inline JobNetwork star_of_flows(std::uint32_t hosts, double latency_s = 0) {
  return on_flows(links::star(hosts, {latency_s, kRate}));
}

inline JobNetwork star_of_packets(std::uint32_t hosts, double latency_s,
                                  links::TransportKind kind = links::TransportKind::raw) {
  return on_packets(links::star(hosts, {latency_s, kRate}), kind);
}

// A synchronous step on hosts 0, 1, ..: pieces are exchanged by a collective, or with servers.
struct StepJob {
  std::uint32_t workers = 1;
  std::vector<double> forward_s, backward_s; // [layer], forward order
  std::vector<JobPiece> pieces;              // in launch order, with bytes
  double update_s = 0;
  bool overlap_backward = true;
  NextForward next_forward = NextForward::per_layer;
  bool by_layer = false; // the most urgent layer first, while fewer than credit_bytes are under way
  double credit_bytes = std::numeric_limits<double>::infinity();
  std::int64_t iterations = 1;
  layers::Variability variability;
  collectives::Collective collective; // algorithm, options, reduction and two-level costs
  std::optional<JobServers> servers;
  std::vector<links::NodeId> hosts; // of workers, then of dedicated servers
};

// One piece per layer with bytes, the last layer first, hosts 0, 1, ...
inline StepJob step_job(std::uint32_t workers, std::vector<double> forward_s,
                        std::vector<double> backward_s, const std::vector<std::int64_t>& bytes) {
  StepJob step;
  step.workers = workers;
  step.forward_s = std::move(forward_s);
  step.backward_s = std::move(backward_s);
  for (std::size_t l = bytes.size(); l-- > 0;) {
    if (bytes[l] > 0) {
      step.pieces.push_back({.first_layer = static_cast<std::uint32_t>(l), .bytes = bytes[l]});
    }
  }
  step.collective.op = collectives::Op::allreduce;
  step.collective.algorithm = collectives::AlgorithmId::ring;
  step.hosts.resize(workers);
  std::iota(step.hosts.begin(), step.hosts.end(), 0U);
  return step;
}

// Dedicated servers take the hosts after the workers'.
template <class Job>
[[nodiscard]] Job
with_servers(Job job, std::uint32_t count,
             collectives::Placement placement = collectives::Placement::dedicated) {
  job.servers = JobServers{.count = count, .placement = placement};
  if (placement == collectives::Placement::dedicated) {
    for (std::uint32_t s = 0; s < count; ++s) {
      job.hosts.push_back(job.workers + s);
    }
  }
  return job;
}

// The program of the step, with one iteration more than the step has, whose exchanges are not sent:
// its marker shows when the exchanges before it have ended.
inline Program step_program(const StepJob& step) {
  std::vector<LayerTimes> layers;
  for (std::size_t l = 0; l < step.forward_s.size(); ++l) {
    layers.push_back({{step.forward_s[l]}, {step.backward_s[l]}, 0});
  }
  std::vector<BucketTimes> buckets;
  for (const JobPiece& piece : step.pieces) {
    layers[piece.first_layer].bytes += static_cast<double>(piece.bytes);
    buckets.push_back({.layers = {piece.first_layer}, .reduce = {}, .gather = {}});
    buckets.back().bytes = piece.bytes;
    if (!step.overlap_backward) {
      buckets.back().ready_after = 0;
    }
  }
  SyncSgdOptions options{.update = {step.update_s}, .next_forward = step.next_forward};
  options.stream_each = step.servers.has_value();
  if (step.by_layer && !step.servers) {
    options.reduce.discipline = Discipline::priority;
    if (std::isfinite(step.credit_bytes)) {
      options.reduce.credit_bytes = static_cast<std::int64_t>(step.credit_bytes);
    }
  }
  Program program = sync_sgd_program(layers, buckets, options);
  program.ranks = step.workers;
  return program;
}

inline NetworkJob job_of(StepJob step) {
  if (step.by_layer && !step.servers) { // the first buckets are the most urgent
    std::ranges::stable_sort(step.pieces, {}, &JobPiece::first_layer);
  }
  NetworkJob job;
  job.pieces = step.pieces;
  job.workers = step.workers;
  job.iterations = step.iterations + 1;
  job.servers = step.servers;
  job.hosts = step.hosts;
  if (job.servers) {
    job.servers->by_layer = step.by_layer;
    job.servers->credit_bytes = step.credit_bytes;
  }
  JobProgram& spec = job.program.emplace();
  spec.program = step_program(step);
  spec.sent_iterations = step.iterations;
  for (const Operation& operation : spec.program.operations) {
    const bool exchange = operation.type == OperationType::exchange;
    const bool sent = exchange && (step.servers || step.workers > 1);
    spec.exchange_of.push_back(!sent          ? JobProgram::kNotSent
                               : step.servers ? JobProgram::kToServers
                                              : static_cast<std::uint32_t>(spec.exchanges.size()));
    if (sent && !step.servers) {
      spec.exchanges.push_back({{step.collective}});
      spec.exchanges.back().stages[0].bytes =
          static_cast<double>(step.pieces[static_cast<std::size_t>(operation.unit)].bytes);
    }
  }
  if (step.variability.varies()) {
    const layers::Jitter jitter(step.variability, step.workers);
    for (std::int64_t n = 1; n <= job.iterations; ++n) {
      for (std::uint32_t w = 0; w < step.workers; ++w) {
        spec.factors.compute.push_back(jitter.compute(w, n));
      }
      spec.factors.exchange.push_back(1);
    }
  }
  return job;
}

// Times of an iteration of a step.
struct StepIteration {
  double compute_end_s{};  // when the last worker ends its backward
  double exchange_end_s{}; // when the last piece is back at a worker, at least compute_end_s
  double period_s{};       // from compute_end_s to that of the next iteration
};
inline StepIteration iteration_of(const NetworkJob& job, const JobResult& result,
                                  std::int64_t iteration) {
  const Program& program = job.program->program;
  const OperationTimes& times = result.times;
  StepIteration found{.compute_end_s = latest_marker_end(times, iteration)};
  found.exchange_end_s = found.compute_end_s;
  found.period_s = latest_marker_end(times, iteration + 1) - found.compute_end_s;
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    for (std::uint32_t w = 0; w < job.workers; ++w) {
      if (program.operations[o].type == OperationType::exchange) {
        found.exchange_end_s = std::max(found.exchange_end_s, times.end[times.at(iteration, o, w)]);
      }
    }
  }
  return found;
}

inline JobsResult run_job(const JobNetwork& network, const NetworkJob& job) {
  return run_network_jobs(network, {&job, 1});
}

inline JobsResult run_job(const JobNetwork& network, const StepJob& step) {
  return run_job(network, job_of(step));
}
inline StepIteration iteration_of(const JobNetwork& network, const StepJob& step,
                                  std::int64_t iteration = 0) {
  const NetworkJob job = job_of(step);
  return iteration_of(job, run_job(network, job).jobs[0], iteration);
}

} // namespace stepsim::programs
