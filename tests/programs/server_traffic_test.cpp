#include "programs/job/server_traffic.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "collectives/evaluate/evaluation.hpp"
#include "programs/network_job_scenes.hpp"

namespace stepsim::programs {

namespace {

constexpr double kExact = 1e-9;

// What COL 5.10 says for one exchange on a star whose links have latency d: alpha = 2 d.
collectives::Collective formula_of(const StepJob& job, double latency_s) {
  collectives::Collective collective;
  collective.op = collectives::Op::allreduce;
  collective.algorithm = collectives::AlgorithmId::parameter_server;
  collective.ranks = job.workers;
  collective.bytes = static_cast<double>(job.pieces.front().bytes);
  collective.links.all = {.latency_s = 2 * latency_s, .per_byte_s = 1 / kRate};
  collective.options.servers = job.servers->count;
  collective.options.placement = job.servers->placement;
  collective.options.element_bytes = NetworkJob{}.value_bytes;
  collective.reduction_s_per_byte = job.servers->add_s_per_byte;
  return collective;
}

} // namespace

TEST_CASE("servers over flows on a star: an exchange takes what COL 5.10 says") {
  constexpr double kLatency = 3e-6;
  constexpr double kBackward = 0.01;
  for (const std::uint32_t workers : {1U, 2U, 3U, 4U, 8U}) {
    for (const auto placement :
         {collectives::Placement::dedicated, collectives::Placement::colocated,
          collectives::Placement::sharded}) {
      for (const std::uint32_t servers : {1U, 2U, 4U}) {
        if (placement != collectives::Placement::dedicated && servers > workers) {
          continue;
        }
        for (const double add : {0.0, 1e-10}) {
          // With all workers on one host the inner link has the rate and start-up of the star.
          for (const bool inside : {false, true}) {
            if (inside && placement == collectives::Placement::dedicated) {
              continue;
            }
            CAPTURE(inside);
            CAPTURE(workers);
            CAPTURE(static_cast<int>(placement));
            CAPTURE(servers);
            CAPTURE(add);
            StepJob job =
                with_servers(step_job(workers, {0}, {kBackward}, {9'600'000}), servers, placement);
            job.servers->add_s_per_byte = add;
            if (inside) {
              std::fill(job.hosts.begin(), job.hosts.end(), 0U);
              job.servers->inner = {.latency_s = 2 * kLatency, .per_byte_s = 1 / kRate};
            }
            const StepIteration iteration = iteration_of(star_of_flows(workers + 4, kLatency), job);
            CHECK(iteration.compute_end_s == kBackward);
            CHECK(iteration.exchange_end_s - kBackward ==
                  within(collectives::events(formula_of(job, kLatency)).seconds, kExact));
            CHECK(iteration.period_s == within(iteration.exchange_end_s, 1e-9));
          }
        }
      }
    }
  }
}

TEST_CASE("servers over packets, raw on unlimited buffers: pushes and pulls of F10") {
  constexpr double kLatency = 1e-6;
  constexpr std::int64_t kPackets = 300; // of a piece, full
  for (const std::uint32_t workers : {1U, 2U, 5U}) {
    for (const std::uint32_t servers : {1U, 3U}) {
      CAPTURE(workers);
      CAPTURE(servers);
      const NetworkJob job =
          job_of(with_servers(step_job(workers, {0}, {0}, {kPackets * kPayload}), servers));
      const JobResult result = run_job(star_of_packets(workers + servers, kLatency), job).jobs[0];
      double pushed = 0;
      for (const JobMessage& message : result.messages) {
        pushed = std::max(pushed, message.part == MessagePart::gradient ? message.end_s : 0);
      }
      // Every worker sends to server 0 first, so the last server's port starts when S - 1 parts
      // have left the workers; it is busy with W parts, then the last packet goes on.
      const double part = static_cast<double>(kPackets) / servers;
      const double one_server = (workers * part + 1) * kTauS + 2 * kLatency;
      const double before = (servers - 1) * part * kTauS;
      CHECK(pushed >= std::max(1.0, static_cast<double>(workers) / servers) * kPackets * kTauS);
      CHECK(pushed == within(before + one_server, kExact));
      CHECK(iteration_of(job, result, 0).exchange_end_s == within(before + 2 * one_server, kExact));
      CHECK(result.messages.size() == 2 * workers * servers);
    }
  }
}

TEST_CASE("servers send a sum to each worker when it is there: fast workers go on") {
  // Worker 1 computes twice as long.
  StepJob job = with_servers(step_job(2, {0}, {1e-3}, {1'250'000}), 1);
  job.variability.stragglers = {{.worker = 1, .factor = 2}};
  const NetworkJob made = job_of(job);
  const JobResult run = run_job(star_of_flows(3), made).jobs[0];
  // Pushes of 1 ms each: the first from 1 to 2 ms, the second from 2 to 3 ms; both pulls share the
  // server's port for 2 ms.
  std::vector<double> pushed;
  for (const JobMessage& message : run.messages) {
    if (message.part == MessagePart::gradient) {
      pushed.push_back(message.end_s);
    } else {
      CHECK(message.start_s == within(3e-3, kExact));
      CHECK(message.end_s == within(5e-3, kExact));
    }
  }
  CHECK(pushed.size() == 2);
  CHECK(pushed[0] == within(2e-3, kExact));
  CHECK(pushed[1] == within(3e-3, kExact));
}

} // namespace stepsim::programs
