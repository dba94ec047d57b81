// Losses, bounds, errors and background of training over packets.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.hpp"
#include "links/packet/message.hpp"
#include "programs/network_job_scenes.hpp"

namespace stepsim::programs {

namespace {

constexpr double kLatency = 1e-6;

// Incast on a star with the buffers and thresholds of C10.
JobNetwork lossy_star(std::uint32_t hosts, links::TransportKind kind) {
  JobNetwork network = star_of_packets(hosts, kLatency, kind);
  network.packet->buffer = {.scope = links::BufferScope::port, .packets = 100};
  return network;
}

StepJob bounded(StepJob job, double push, double pull) {
  for (JobPiece& piece : job.pieces) {
    piece.message_class.loss_bound_push = push;
    piece.message_class.loss_bound_pull = pull;
  }
  return job;
}

void check_books(const StepJob& job, const JobResult& result, bool early_stop) {
  std::vector<JobIteration> sums(result.iterations.size());
  for (const JobMessage& message : result.messages) {
    const MessageClass& of = job.pieces[message.piece].message_class;
    const bool push = message.part == MessagePart::gradient;
    const double bound = push ? of.loss_bound_push : of.loss_bound_pull;
    CHECK(message.size_bytes ==
          message.delivered_bytes + message.lost_network_bytes + message.lost_stopped_bytes);
    CHECK(message.delivered_packets >= links::packets_needed(message.packets, bound)); // V39
    CHECK(message.timeouts == 0);
    CHECK(message.end_s > message.start_s);
    if (!early_stop) {
      CHECK(message.delivered_packets <= message.packets);
    } else {
      CHECK(message.delivered_packets == links::packets_needed(message.packets, bound));
    }
    JobIteration& sum = sums[static_cast<std::size_t>(message.iteration)];
    const std::int64_t lost = message.size_bytes - message.delivered_bytes;
    (push ? sum.gradient_bytes : sum.parameter_bytes) += message.size_bytes;
    (push ? sum.gradient_lost_bytes : sum.parameter_lost_bytes) += lost;
    sum.lost_contributions +=
        push ? static_cast<double>(lost * std::int64_t{message.contributions}) : 0;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    CHECK(result.iterations[i].gradient_bytes == sums[i].gradient_bytes);
    CHECK(result.iterations[i].gradient_lost_bytes == sums[i].gradient_lost_bytes);
    CHECK(result.iterations[i].parameter_bytes == sums[i].parameter_bytes);
    CHECK(result.iterations[i].parameter_lost_bytes == sums[i].parameter_lost_bytes);
    CHECK(result.iterations[i].lost_contributions == within(sums[i].lost_contributions, 1e-9));
  }
}

std::string error_of(const JobNetwork& network, const StepJob& job) {
  try {
    static_cast<void>(run_job(network, job));
  } catch (const SimulationError& error) {
    return error.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

} // namespace

TEST_CASE("dlcp under incast: every message keeps its bound, and the books are balanced") {
  for (const double bound : {0.0, 0.1, 0.3}) {
    for (const bool early_stop : {true, false}) {
      CAPTURE(bound);
      CAPTURE(early_stop);
      JobNetwork network = lossy_star(9, links::TransportKind::dlcp);
      network.packet->transport.dlcp.early_stop = early_stop;
      StepJob job = bounded(
          with_servers(step_job(8, {1e-4, 1e-4}, {1e-4, 1e-4}, {200'000, 100'000}), 1), bound, 0);
      job.iterations = 3;
      const JobsResult run = run_job(network, job);
      check_books(job, run.jobs[0], early_stop);
      for (std::size_t i = 0; i < 3; ++i) {
        const JobIteration& iteration = run.jobs[0].iterations[i];
        CHECK(iteration.gradient_bytes == 8 * 300'000);
        CHECK(iteration.parameter_bytes == 8 * 300'000);
        CHECK(iteration.parameter_lost_bytes == 0);
        // Packets are full but for the last ones.
        const double lost = static_cast<double>(iteration.gradient_lost_bytes);
        CHECK(lost <= (bound + 1e-3) * 8 * 300'000);
        CHECK((lost > 0) == (bound > 0));            // stopped, or dropped and not asked for again
        CHECK(iteration.lost_contributions == lost); // a push is of one worker
      }
    }
  }
}

TEST_CASE("dlcp with classes: small values of the front are dropped first") {
  JobNetwork network = lossy_star(9, links::TransportKind::dlcp);
  network.packet->transport.dlcp.rate_control = links::RateControl::none;
  StepJob job = bounded(with_servers(step_job(8, {0}, {0}, {400'000}), 1), 0.3, 0);
  const JobsResult all_protected = run_job(network, job);
  MessageClass& of = job.pieces[0].message_class;
  of.small = links::DropClass::droppable;
  of.large = links::DropClass::middle;
  const JobsResult dropped = run_job(network, job);
  of.large = links::DropClass::protected_;
  of.large_fraction = 0.9;
  const JobsResult few_dropped = run_job(network, job);
  const auto lost_to_thresholds = [](const JobsResult& run) {
    std::uint64_t sum = 0;
    for (const links::LinkCounters& link : run.link_counters) {
      sum += link.drops[static_cast<std::size_t>(links::DropCause::threshold)];
    }
    return sum;
  };
  CHECK(lost_to_thresholds(all_protected) == 0);
  CHECK(lost_to_thresholds(few_dropped) > 0);
  CHECK(lost_to_thresholds(dropped) > 2 * lost_to_thresholds(few_dropped));
  check_books(job, dropped.jobs[0], true);
}

TEST_CASE("a ring under dlcp: a loss in reduce-scatter step s removes s + 1 contributions") {
  JobNetwork network = star_of_packets(5, kLatency, links::TransportKind::dlcp);
  network.packet->transport.dlcp.rate_control = links::RateControl::none;
  constexpr std::int64_t kPackets = 20; // of a chunk
  const StepJob job = bounded(step_job(5, {0}, {0}, {5 * kPackets * kPayload}), 0.1, 0);
  const JobResult result = run_job(network, job).jobs[0];
  check_books(job, result, true);
  double contributions = 0;
  for (const JobMessage& message : result.messages) {
    if (message.part == MessagePart::gradient) {
      CHECK(message.step < 4);
      CHECK(message.contributions == message.step + 1);
      CHECK(message.lost_stopped_bytes == 2 * kPayload); // early stop: p n packets
      contributions += 2 * kPayload * (message.step + 1);
    } else {
      CHECK(message.step >= 4);
      CHECK(message.lost_stopped_bytes == 0);
    }
  }
  CHECK(contributions == 5 * (1 + 2 + 3 + 4) * 2 * kPayload);
  CHECK(result.iterations[0].lost_contributions == contributions);
}

TEST_CASE("sums of all collectives: what goes to the last sum holds all the others") {
  for (const auto& [algorithm, most] : {std::pair{collectives::AlgorithmId::mst, 4U},
                                        {collectives::AlgorithmId::recursive_doubling, 4U},
                                        {collectives::AlgorithmId::be, 4U},
                                        {collectives::AlgorithmId::lp, 7U},
                                        {collectives::AlgorithmId::ring, 7U}}) {
    CAPTURE(static_cast<int>(algorithm));
    StepJob job = step_job(8, {0}, {0}, {80'000});
    job.collective.algorithm = algorithm;
    job.collective.options.block = Bytes{8'000};
    std::uint32_t largest = 0;
    const JobsResult run = run_job(star_of_flows(8), job);
    for (const JobMessage& message : run.jobs[0].messages) {
      largest =
          std::max(largest, message.part == MessagePart::gradient ? message.contributions : 0);
    }
    CHECK(largest == most);
  }
  // The two sums at the root of each tree hold all 8 ranks but the root.
  StepJob job = step_job(8, {0}, {0}, {80'000});
  job.collective.algorithm = collectives::AlgorithmId::double_binary_tree;
  job.collective.options.block = Bytes{80'000};
  std::uint32_t received = 0;
  const JobsResult run = run_job(star_of_flows(8), job);
  for (const JobMessage& message : run.jobs[0].messages) {
    CHECK(message.contributions <= 7);
    received += message.contributions == 7 ? 1 : 0;
  }
  CHECK(received <= 2);
}

TEST_CASE("flows with early stop carry size need / n and count the rest as stopped") {
  JobNetwork network = star_of_flows(3);
  StepJob job = bounded(with_servers(step_job(2, {0}, {0}, {100 * kPayload}), 1), 0.1, 0);
  const double whole = iteration_of(network, job).exchange_end_s;
  CHECK(whole == within(4 * 100 * kPayload / kRate, 1e-9));
  network.early_stop_payload = kPayload;
  const JobResult stopped = run_job(network, job).jobs[0];
  CHECK(iteration_of(network, job).exchange_end_s ==
        within(2 * (90 + 100) * kPayload / kRate, 1e-9));
  CHECK(stopped.iterations[0].gradient_lost_bytes == 2 * 10 * kPayload);
  CHECK(stopped.iterations[0].parameter_lost_bytes == 0);
  for (const JobMessage& message : stopped.messages) {
    const bool push = message.part == MessagePart::gradient;
    CHECK(message.lost_stopped_bytes == (push ? 10 * kPayload : 0));
  }
}

TEST_CASE("flows with early stop: 5 packets tolerate nothing at 10 %") {
  JobNetwork network = star_of_flows(3);
  network.early_stop_payload = kPayload;
  const StepJob job = bounded(with_servers(step_job(2, {0}, {0}, {5 * kPayload}), 1), 0.1, 0);
  CHECK(run_job(network, job).jobs[0].iterations[0].gradient_lost_bytes == 0);
}

TEST_CASE("A29: raw loses a packet in training: an error at once, with the message") {
  const JobNetwork network = lossy_star(9, links::TransportKind::raw);
  const StepJob job = with_servers(step_job(8, {0}, {0}, {400'000}), 1);
  const std::string text = error_of(network, job);
  CHECK(has(text, "transport raw"));
  CHECK(has(text, "of the 274 packets of push of piece 0, worker "));
  CHECK(has(text, " -> server 0 (iteration 0)"));
}

TEST_CASE("A27: messages that can never end are named") {
  JobNetwork network = star_of_packets(3, kLatency, links::TransportKind::window);
  // Connection 5: of worker 1 (of 3 ranks) to the server, rank 2.
  network.packet->drop_once.push_back({.link = 2, .connection = 1 * 3 + 2, .seq = 7});
  const StepJob job = with_servers(step_job(2, {0}, {0}, {400'000}), 1);
  const std::string text = error_of(network, job);
  CHECK(text == "nothing is left to happen, but 1 messages are not complete: push of piece 0, "
                "worker 1 -> server 0 (iteration 0)");
  // Background load that would arrive for ever does not keep such a run going.
  network.background = {.load = 0.01, .cdf = {{10'000, 1}}};
  CHECK(error_of(network, job) == text);
}

TEST_CASE("A28: a run is over at the limit of simulated time, 10 messages are named") {
  for (const bool packets : {false, true}) {
    JobNetwork network = packets ? star_of_packets(21, kLatency) : star_of_flows(21, kLatency);
    network.simulated_limit_s = 2e-3;
    const StepJob job = with_servers(step_job(20, {1e-3}, {9e-4}, {400'000}), 1);
    const std::string text = error_of(network, job);
    CHECK(has(text, "the simulated time passed the limit of 0.002 s, but 20 messages are not "
                    "complete: push of piece 0, worker 0 -> server 0 (iteration 0); "));
    CHECK(has(text, "worker 9 -> server 0 (iteration 0); ..."));
    CHECK_FALSE(has(text, "worker 10 "));
  }
  JobNetwork network = star_of_flows(2);
  network.simulated_limit_s = 2e-3;
  CHECK(error_of(network, step_job(2, {3e-3}, {1e-3}, {4})) ==
        "the simulated time passed the limit of 0.002 s");
}

TEST_CASE("connections last: the window of reno has grown by the second iteration") {
  const JobNetwork network = star_of_packets(2, 1e-4, links::TransportKind::reno);
  StepJob job = with_servers(step_job(1, {1e-3}, {1e-3}, {200 * kPayload}), 1);
  job.iterations = 2;
  const JobResult result = run_job(network, job).jobs[0];
  const auto seconds = [&](std::size_t m) {
    return result.messages[m].end_s - result.messages[m].start_s;
  };
  REQUIRE(result.messages.size() == 4);
  // 10, 20, 40, 80 .. packets per round trip, then all at once.
  CHECK(seconds(0) > 3 * 4 * 1e-4);
  CHECK(seconds(2) == within((200 + 1) * kTauS + 2 * 1e-4, 1e-9));
}

TEST_CASE("background load disturbs a job, ends with it and is on its links") {
  JobNetwork network = lossy_star(5, links::TransportKind::dctcp);
  // An iteration of computing alone follows the only one, beside the load.
  const StepJob job = with_servers(step_job(4, {5e-3}, {5e-3}, {500'000}), 1);
  const JobsResult alone = run_job(network, job);
  network.background = {.load = 0.5, .cdf = {{20'000, 1}}};
  const JobsResult beside = run_job(network, job);
  CHECK(beside.jobs[0].messages.size() == alone.jobs[0].messages.size());
  CHECK(beside.elapsed_s > alone.elapsed_s);
  // Poisson arrivals of every host until the end.
  const double expected = 5 * 0.5 * kRate / 20'000 * beside.elapsed_s;
  const auto bytes = [](const JobsResult& result) {
    double sum = 0;
    for (const links::LinkUse& link : result.links) {
      sum += link.bytes;
    }
    return sum;
  };
  const double flows = (bytes(beside) - bytes(alone)) / (2 * 20'000); // by two links each
  CHECK(flows > 0.8 * expected);
  CHECK(flows < 1.2 * expected);
}

} // namespace stepsim::programs
