// Acceptance values of PKT 14 and formulas of PKT 4 for training on networks.
#include "programs/job/network_job.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "programs/network_job_scenes.hpp"

namespace stepsim::programs {

namespace {

// Layer 1 is the front: f1 = f2, b1 = b2, c1 and c2 of PKT 14, V35, in units of `unit_s`.
StepJob two_layers(double unit_s, std::uint32_t workers, std::int64_t slice_bytes) {
  const auto bytes = [&](double units) {
    return static_cast<std::int64_t>(std::llround(units * unit_s * kRate));
  };
  StepJob job = step_job(workers, {10 * unit_s, 10 * unit_s}, {20 * unit_s, 20 * unit_s}, {0, 0});
  job.pieces.clear();
  for (const auto& [layer, size] : {std::pair{1U, bytes(60)}, {0U, bytes(10)}}) {
    for (std::int64_t sent = 0; sent < size; sent += slice_bytes) {
      job.pieces.push_back({.first_layer = layer, .bytes = std::min(slice_bytes, size - sent)});
    }
  }
  job.iterations = 2;
  return job;
}

double period(const JobNetwork& network, const StepJob& step) {
  const NetworkJob job = job_of(step);
  const JobResult result = run_job(network, job).jobs[0];
  const double last = iteration_of(job, result, 1).period_s;
  // Every message of an iteration is over before the next backward; a slice that is ready at the
  // instant at which another ends may come before or after the next.
  CHECK(iteration_of(job, result, 0).period_s == within(last, 1e-3));
  return last;
}

} // namespace

TEST_CASE("V34: a ring of 8 at 10 Gbit/s, flows: 2 (N - 1) / N M / B") {
  for (const auto& [bytes, seconds] : {std::pair{553'400'000, 0.77476}, {102'200'000, 0.14308}}) {
    const StepIteration iteration = iteration_of(star_of_flows(8), step_job(8, {0}, {0}, {bytes}));
    CHECK(iteration.exchange_end_s == within(2 * 7.0 / 8 * bytes / kRate, 1e-9));
    CHECK(iteration.exchange_end_s == within(seconds, 1e-4));
  }
}

TEST_CASE("V34: a ring of 8 at 10 Gbit/s, packets: at the rate of their payload (a tenth of M)") {
  const StepIteration iteration = iteration_of(star_of_packets(8, 0, links::TransportKind::raw),
                                               step_job(8, {0}, {0}, {10'220'000}));
  CHECK(iteration.exchange_end_s == within(0.01470, 0.01));
}

TEST_CASE("F10: a ring in packets on an uncongested star takes 2 (N-1) [(c + k-1) tau + k d]") {
  constexpr double kLatency = 2e-6;
  for (const std::uint32_t ranks : {2U, 3U, 5U, 8U}) {
    for (const std::int64_t packets : {1, 7, 40}) {
      for (const auto kind : {links::TransportKind::raw, links::TransportKind::dlcp}) {
        CAPTURE(ranks);
        CAPTURE(packets);
        JobNetwork network = star_of_packets(ranks, kLatency, kind);
        network.packet->transport.dlcp.rate_control = links::RateControl::none;
        const NetworkJob job = job_of(step_job(ranks, {0}, {0}, {packets * ranks * kPayload}));
        const JobResult result = run_job(network, job).jobs[0];
        const double step = static_cast<double>(packets + 1) * kTauS + 2 * kLatency;
        // dlcp: before a rank goes on, its STOP is sent, and passes the port that serves it.
        const double stops = kind == links::TransportKind::dlcp ? 2 * 64 / kRate : 0;
        CHECK(iteration_of(job, result, 0).exchange_end_s ==
              within(2.0 * (ranks - 1) * (step + stops) - stops, 1e-9));
        CHECK(result.messages.size() == 2 * (ranks - 1) * ranks);
      }
    }
  }
}

TEST_CASE("V35: two layers over flows, a ring of 2: FIFO 110 ms, priority 100 ms") {
  const double unit = 1e-3;
  // 2 (N-1) / N M / B = M / B for N = 2.
  StepJob job = two_layers(unit, 2, 1 << 30);
  CHECK(period(star_of_flows(2), job) == within(110 * unit, 1e-9));
  const std::int64_t slice = 62'400; // 0.05 ms, two halves of whole values
  job = two_layers(unit, 2, slice);
  CHECK(period(star_of_flows(2), job) == within(110 * unit, 1e-9));
  job.by_layer = true;
  job.credit_bytes = 1;
  CHECK(period(star_of_flows(2), job) ==
        within(100 * unit, 1e-9)); // a slice of layer 2 is not interrupted
}

TEST_CASE("V35: two layers over flows, one worker and its server: FIFO 110 ms, priority 100 ms") {
  const double unit = 1e-3;
  const std::int64_t slice = 62'500; // 0.05 ms; its pull follows the push
  StepJob job = with_servers(two_layers(unit, 1, slice), 1);
  CHECK(period(star_of_flows(2), job) == within(110 * unit, 0.001));
  // The queue decides: layer 1 overtakes whatever is under way.
  for (JobPiece& piece : job.pieces) {
    piece.message_class.queue = piece.first_layer == 0 ? 1 : 2;
  }
  CHECK(period(star_of_flows(2), job) == within(100 * unit, 0.001));
  // The worker decides: layer 1 overtakes what has not been handed over.
  for (JobPiece& piece : job.pieces) {
    piece.message_class.queue = 1;
  }
  job.by_layer = true;
  job.credit_bytes = 1;
  CHECK(period(star_of_flows(2), job) == within(100 * unit, 0.002));
}

TEST_CASE("V35: two layers over packets: FIFO 110, priority 100, in twentieths of a millisecond") {
  const double unit = 5e-5;
  const double wire = 1500.0 / 1460; // sizes are data
  const std::int64_t slice = 10 * kPayload;
  for (const bool servers : {false, true}) {
    CAPTURE(servers);
    StepJob job = two_layers(unit / wire, servers ? 1 : 2, slice);
    job.forward_s.assign(2, 10 * unit);
    job.backward_s.assign(2, 20 * unit);
    if (servers) {
      job = with_servers(std::move(job), 1);
    }
    const JobNetwork network = star_of_packets(2, 0);
    // Slices of 10 packets in a ring are 5 packets in 2 steps, each with 1 more for the switch.
    const double slices = servers ? 1 : 1.2;
    const double fifo = 20 + slices * 70 + 20;
    CHECK(period(network, job) == within(fifo * unit, 0.01));
    for (JobPiece& piece : job.pieces) {
      piece.message_class.queue = piece.first_layer == 0 ? 1 : 2;
    }
    const double priority = 20 + slices * 70 + 10;
    if (servers) { // whatever has been handed over, the queue of the host decides
      CHECK(period(network, job) == within(priority * unit, 0.01));
    }
    job.by_layer = true;
    job.credit_bytes = 3.0 * slice;
    if (!servers) { // while a slice passes the switch the next one leaves its host
      CHECK(period(network, job) == within((20 + 70 + 10) * unit, 0.01));
      job.credit_bytes = 1;
    }
    CHECK(period(network, job) == within(priority * unit, 0.01));
    for (JobPiece& piece : job.pieces) {
      piece.message_class.queue = 1;
    }
    CHECK(period(network, job) == within(priority * unit, 0.01));
  }
}

} // namespace stepsim::programs
