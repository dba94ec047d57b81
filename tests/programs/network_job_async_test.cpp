#include "programs/job/network_job.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "programs/network_job_scenes.hpp"

namespace stepsim::programs {

namespace {

constexpr double kLatency = 2e-5;

NetworkJob async_job(std::uint32_t workers, std::uint32_t servers, std::int64_t bytes,
                     collectives::Placement placement = collectives::Placement::dedicated) {
  NetworkJob job;
  job.pieces = {{.bytes = bytes}};
  job.workers = workers;
  job.hosts.resize(workers);
  std::iota(job.hosts.begin(), job.hosts.end(), 0U);
  job = with_servers(std::move(job), servers, placement);
  job.servers->async.emplace().compute_s = 0.003;
  return job;
}

AsyncTimes times_of(const NetworkJob& job, const JobResult& run) {
  return async_times({.workers = job.workers,
                      .iterations = job.iterations,
                      .compute_s = 0.003,
                      .variability = job.servers->async->variability},
                     run.updates);
}

} // namespace

TEST_CASE("asynchronous servers on flows: one worker takes computing, push, addition and pull") {
  for (const std::uint32_t servers : {1U, 2U, 3U}) {
    NetworkJob job = async_job(1, servers, 1'200'000);
    job.iterations = 3;
    job.servers->add_s_per_byte = 1e-10;
    const JobResult run = run_job(star_of_flows(1 + servers, kLatency), job).jobs[0];
    // The worker's port carries all parts, each server adds its own.
    const double period = 0.003 + 2 * (2 * kLatency + 1.2e6 / kRate) + 1e-10 * 1.2e6 / servers;
    REQUIRE(run.updates.size() == 3);
    CHECK(run.updates.back().received_s == within(3 * period, 1e-9));
    CHECK(times_of(job, run).period_s == within(period, 1e-9));
    CHECK(run.updates.back().staleness == 0);
  }
}

TEST_CASE("asynchronous servers: whole pieces go to the servers in turn") {
  const auto run_of = [](const std::vector<std::int64_t>& bytes, bool whole) {
    NetworkJob job = async_job(4, 2, 0);
    job.pieces.clear();
    for (const std::int64_t each : bytes) {
      job.pieces.push_back({.bytes = each});
    }
    job.servers->async->compute_s = 0.002 * static_cast<double>(bytes.size());
    job.servers->whole = whole;
    job.iterations = 5;
    return run_job(star_of_flows(6, kLatency), job).jobs[0];
  };
  const auto bytes_to = [](const JobResult& run, std::uint32_t rank) {
    std::int64_t sum = 0;
    for (const JobMessage& message : run.messages) {
      sum += message.dst == rank ? message.size_bytes : 0;
    }
    return sum;
  };
  const JobResult uneven = run_of({100'000, 700'000, 200'000}, true); // servers are ranks 4 and 5
  CHECK(bytes_to(uneven, 4) == 4 * 5 * 300'000);
  CHECK(bytes_to(uneven, 5) == 4 * 5 * 700'000);
  // Equal pieces are parts of the same size as even ones, and take the same time.
  const JobResult equal = run_of({400'000, 400'000}, true);
  const JobResult even = run_of({400'000, 400'000}, false);
  CHECK(equal.updates.back().received_s == within(even.updates.back().received_s, 1e-12));
  CHECK(uneven.updates.back().received_s >
        run_of({500'000, 500'000}, true).updates.back().received_s);
}

TEST_CASE("asynchronous servers: workers that are equal fill the server's port") {
  NetworkJob job = async_job(8, 1, 2'500'000); // 2 ms for a push, eight of them 16 ms
  job.iterations = 40;
  const JobResult run = run_job(star_of_flows(9), job).jobs[0];
  REQUIRE(run.updates.size() == 320);
  const AsyncTimes times = times_of(job, run);
  CHECK(times.period_s >= 8 * 0.002 * (1 - 1e-9)); // what the port carries
  // Fair shares keep equal workers in step: all push together, then all pull together.
  CHECK(times.period_s <= 2 * 8 * 0.002 + 0.003 * (1 + 1e-9));
  CHECK(times.staleness.mean() == within(7, 0.1)); // an update of every other worker in between
  std::int64_t bytes = 0;
  for (const JobMessage& message : run.messages) {
    bytes += message.delivered_bytes;
  }
  CHECK(bytes == 320 * 2 * 2'500'000LL);
}

TEST_CASE("asynchronous servers: fast workers do not wait for a slow one") {
  NetworkJob job = async_job(3, 1, 4);
  job.iterations = 20;
  job.servers->async->variability.stragglers = {{.worker = 2, .factor = 10}};
  const JobResult run = run_job(star_of_flows(4), job).jobs[0];
  const auto of = [&](std::uint32_t worker) {
    return std::ranges::count(run.updates, worker, &AsyncUpdate::worker);
  };
  CHECK(of(0) + of(1) + of(2) == 60);
  CHECK(of(0) >= 9 * of(2));
}

// Where a message takes next to nothing, iteration t of a worker begins when it has ended its own
// iteration t - 1 and all workers have ended t - 1 - s (TRN 4.7).
TEST_CASE("stale synchronous servers on a network: the recurrence of computing alone") {
  constexpr std::int64_t kIterations = 40;
  const std::vector<double> seconds{0.003, 0.0039, 0.0045};
  for (const std::int64_t bound : {0, 1, 3}) {
    NetworkJob job = async_job(3, 1, 4);
    job.iterations = kIterations;
    job.servers->async->staleness_bound = bound;
    job.servers->async->variability.stragglers = {{.worker = 1, .factor = 1.3},
                                                  {.worker = 2, .factor = 1.5}};
    const JobResult run = run_job(star_of_flows(4, 0), job).jobs[0];
    std::vector<std::vector<double>> end(3, std::vector<double>(kIterations + 10));
    for (std::size_t t = 0; t < end[0].size(); ++t) {
      for (std::size_t w = 0; w < 3; ++w) {
        double start = t > 0 ? end[w][t - 1] : 0;
        const std::int64_t common = static_cast<std::int64_t>(t) - 1 - bound;
        for (std::size_t v = 0; common >= 0 && v < 3; ++v) {
          start = std::max(start, end[v][static_cast<std::size_t>(common)]);
        }
        end[w][t] = start + seconds[w];
      }
    }
    std::vector<std::size_t> done(3);
    for (const AsyncUpdate& update : run.updates) {
      CHECK(update.applied_s == within(end[update.worker][done[update.worker]], 1e-4));
      ++done[update.worker];
      CHECK(update.staleness <= 2 * (2 * bound + 1)); // of two others, each at most so far ahead
    }
    const AsyncTimes times = times_of(job, run);
    CHECK(times.period_s == within(seconds[2], 1e-2)); // the slowest worker sets the pace
    CHECK(times.held_s > 0);
  }
}

TEST_CASE("stale synchronous servers on a network: a loose bound holds nobody up") {
  for (const bool packets : {false, true}) {
    NetworkJob job = async_job(3, 2, 60'000);
    job.iterations = 12;
    job.servers->async->variability.stragglers = {{.worker = 2, .factor = 1.4}};
    const JobNetwork network = packets ? star_of_packets(5, 1e-6, links::TransportKind::dctcp)
                                       : star_of_flows(5, kLatency);
    const JobResult free = run_job(network, job).jobs[0];
    job.servers->async->staleness_bound = 1000;
    const JobResult loose = run_job(network, job).jobs[0];
    job.servers->async->staleness_bound = 0;
    const JobResult barrier = run_job(network, job).jobs[0];
    REQUIRE(loose.updates.size() == free.updates.size());
    for (std::size_t i = 0; i < free.updates.size(); ++i) {
      CHECK(loose.updates[i].received_s == free.updates[i].received_s);
      CHECK(loose.updates[i].held_s == 0);
    }
    CHECK(times_of(job, barrier).period_s >= times_of(job, free).period_s);
    for (const AsyncUpdate& update : barrier.updates) {
      CHECK(update.staleness <= 2);
    }
  }
}

TEST_CASE("asynchronous servers on workers, without bytes, and on packets") {
  for (const collectives::Placement placement :
       {collectives::Placement::colocated, collectives::Placement::sharded}) {
    NetworkJob job = async_job(3, 3, 1'200'000, placement);
    const JobResult run = run_job(star_of_flows(3), job).jobs[0];
    CHECK(run.messages.size() == 3 * 2 * 2); // to two others, and back
    CHECK(run.updates.size() == 3);
  }
  const NetworkJob empty = async_job(2, 1, 0);
  const JobResult none = run_job(star_of_flows(3), empty).jobs[0];
  CHECK(none.messages.empty());
  CHECK(none.updates.back().received_s == within(0.003, 1e-9));
  NetworkJob packets = async_job(3, 1, 60'000);
  packets.iterations = 4;
  const JobResult run =
      run_job(star_of_packets(4, 1e-6, links::TransportKind::dctcp), packets).jobs[0];
  CHECK(run.updates.size() == 12);
}

} // namespace stepsim::programs
