// What holds for every job on every network.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "base/random.hpp"
#include "programs/factors.hpp"
#include "programs/network_job_scenes.hpp"

using stepsim::base::RandomStream;

namespace stepsim::programs {

namespace {

constexpr double kLatency = 1e-6;

bool same(const JobsResult& a, const JobsResult& b) {
  const auto of = [](const JobMessage& message) {
    return std::tuple(message.iteration, message.piece, message.part, message.src, message.dst,
                      message.step, message.start_s, message.end_s, message.size_bytes,
                      message.delivered_bytes, message.lost_network_bytes, message.wasted_bytes,
                      message.retransmissions, message.timeouts);
  };
  for (std::size_t j = 0; j < a.jobs.size(); ++j) {
    if (!std::ranges::equal(a.jobs[j].messages, b.jobs[j].messages, {}, of, of) ||
        !std::ranges::equal(a.jobs[j].iterations, b.jobs[j].iterations, {}, &JobIteration::end_s,
                            &JobIteration::end_s)) {
      return false;
    }
  }
  return a.events == b.events && a.packet_hops == b.packet_hops && a.elapsed_s == b.elapsed_s;
}

StepJob random_job(RandomStream& random) {
  const auto workers = static_cast<std::uint32_t>(random.integer(1, 4));
  const auto layers = static_cast<std::size_t>(random.integer(1, 5));
  std::vector<double> forward, backward;
  std::vector<std::int64_t> bytes;
  for (std::size_t l = 0; l < layers; ++l) {
    forward.push_back(random.uniform(0, 1e-4));
    backward.push_back(random.uniform(0, 2e-4));
    bytes.push_back(random.integer(0, 4) == 0 ? 0 : 4 * random.integer(1, 20'000));
  }
  bytes.front() = std::max<std::int64_t>(bytes.front(), 4);
  StepJob job = step_job(workers, forward, backward, bytes);
  job.iterations = random.integer(1, 3);
  job.overlap_backward = random.integer(0, 2) > 0;
  job.next_forward = random.integer(0, 1) == 0 ? NextForward::per_layer : NextForward::barrier;
  job.by_layer = random.integer(0, 1) == 0;
  job.credit_bytes = random.uniform(1, 1e5);
  job.update_s = random.uniform(0, 1e-4);
  job.variability = {.compute_cv = random.integer(0, 1) == 0 ? 0.0 : 0.4, .seed = 5};
  for (JobPiece& piece : job.pieces) {
    piece.message_class.queue = static_cast<std::uint8_t>(random.integer(1, 7));
  }
  if (random.integer(0, 2) == 0) {
    return job;
  }
  const auto place = random.integer(0, 2);
  const auto placement = place == 0   ? collectives::Placement::dedicated
                         : place == 1 ? collectives::Placement::colocated
                                      : collectives::Placement::sharded;
  const auto most = placement == collectives::Placement::dedicated ? 3 : workers;
  job =
      with_servers(std::move(job), static_cast<std::uint32_t>(random.integer(1, most)), placement);
  job.servers->whole = placement == collectives::Placement::dedicated && random.integer(0, 1) == 0;
  job.servers->add_s_per_byte = random.integer(0, 1) == 0 ? 0 : 1e-10;
  return job;
}

std::uint32_t servers_of(const StepJob& job) {
  return job.servers->placement == collectives::Placement::sharded ? job.workers
                                                                   : job.servers->count;
}

// Every worker sends its gradients and gets its parameters, once per iteration.
void check_bytes(const StepJob& job, const JobResult& result) {
  std::map<std::tuple<std::int64_t, std::uint32_t, std::uint32_t>, std::int64_t> pushed, pulled;
  for (const JobMessage& message : result.messages) {
    const bool push = message.part == MessagePart::gradient;
    (push ? pushed
          : pulled)[{message.iteration, message.piece, push ? message.src : message.dst}] +=
        message.delivered_bytes;
    CHECK(message.size_bytes == message.delivered_bytes);
    CHECK(message.end_s >= message.start_s + static_cast<double>(message.size_bytes) / kRate);
  }
  for (std::int64_t i = 0; i < job.iterations; ++i) {
    for (std::uint32_t p = 0; p < job.pieces.size(); ++p) {
      for (std::uint32_t w = 0; w < job.workers; ++w) {
        const std::int64_t bytes = job.pieces[p].bytes;
        std::int64_t own = 0; // what stays on the host
        if (job.servers->placement != collectives::Placement::dedicated && w < servers_of(job)) {
          const std::int64_t values = bytes / 4;
          own = 4 * (values / servers_of(job) + (w < values % servers_of(job) ? 1 : 0));
        }
        CHECK(pushed[{i, p, w}] == bytes - own);
        CHECK(pulled[{i, p, w}] == bytes - own);
      }
    }
  }
}

// At every hand-over fewer than credit_bytes of the list were handed over and not complete.
void check_credit(const StepJob& job, const JobResult& result) {
  for (const MessagePart part : {MessagePart::gradient, MessagePart::parameter}) {
    for (std::uint32_t w = 0; w < job.workers; ++w) {
      std::vector<JobMessage> list;
      std::ranges::copy_if(result.messages, std::back_inserter(list), [&](const JobMessage& m) {
        return m.part == part && (part == MessagePart::gradient ? m.src : m.dst) == w;
      });
      for (std::size_t m = 0; m < list.size(); ++m) {
        double outstanding = 0;
        for (std::size_t before = 0; before < m; ++before) {
          outstanding += list[before].end_s > list[m].start_s + 1e-12
                             ? static_cast<double>(list[before].size_bytes)
                             : 0;
        }
        CHECK(outstanding < job.credit_bytes);
      }
    }
  }
}

void check_times(const StepJob& step, const NetworkJob& job, const JobResult& result) {
  double before = 0;
  for (std::int64_t i = 0; i < step.iterations; ++i) {
    const StepIteration iteration = iteration_of(job, result, i);
    CHECK(iteration.compute_end_s >= before);
    CHECK(iteration.exchange_end_s >= iteration.compute_end_s);
    CHECK(iteration.period_s >= 0);
    before = iteration.compute_end_s;
  }
  CHECK(result.end_s >= before);
}

} // namespace

TEST_CASE("random jobs: bytes, credits and times, on both levels, the same every time") {
  RandomStream random({.seed = 81});
  constexpr std::array kKinds{links::TransportKind::raw,     links::TransportKind::window,
                              links::TransportKind::reno,    links::TransportKind::dctcp,
                              links::TransportKind::pfabric, links::TransportKind::dlcp};
  for (std::size_t instance = 0; instance < 60; ++instance) {
    CAPTURE(instance);
    const StepJob step = random_job(random);
    const NetworkJob job = job_of(step);
    const auto hosts = static_cast<std::uint32_t>(job.hosts.size()) + 1;
    for (const bool packets : {false, true}) {
      CAPTURE(packets);
      const JobNetwork network =
          packets ? star_of_packets(hosts, kLatency, kKinds[instance % kKinds.size()])
                  : star_of_flows(hosts, kLatency);
      const JobsResult run = run_job(network, job);
      const JobResult& result = run.jobs[0];
      CHECK(same(run, run_job(network, job)));
      check_times(step, job, result);
      CHECK(run.elapsed_s == result.end_s);
      if (step.servers) {
        check_bytes(step, result);
        if (step.by_layer) {
          check_credit(step, result);
        }
      }
    }
  }
}

TEST_CASE("whole pieces go to server index mod count") {
  StepJob job = with_servers(step_job(2, {0, 0, 0}, {0, 0, 0}, {4'000, 8'000, 12'000}), 2);
  job.servers->whole = true;
  const JobResult result = run_job(star_of_flows(4), job).jobs[0];
  REQUIRE(result.messages.size() == 2 * 2 * 3);
  for (const JobMessage& message : result.messages) {
    const bool push = message.part == MessagePart::gradient;
    CHECK((push ? message.dst : message.src) == job.workers + message.piece % 2);
    CHECK(message.size_bytes == job.pieces[message.piece].bytes);
  }
}

TEST_CASE("a ring's chunks are whole values, the first of them one longer") {
  const JobResult result = run_job(star_of_flows(4), step_job(4, {0}, {0}, {4 * 10})).jobs[0];
  std::vector<std::int64_t> first_step;
  for (const JobMessage& message : result.messages) {
    if (message.step == 0) { // rank r sends chunk r - 1
      first_step.push_back(message.size_bytes);
    }
  }
  CHECK(first_step == std::vector<std::int64_t>{8, 12, 12, 8});
}

TEST_CASE("messages of one connection follow without a gap: latency counts once") {
  const StepJob job = with_servers(step_job(1, {0, 0}, {0, 0}, {125'000, 250'000}), 1);
  constexpr double kLong = 5e-3;
  const JobResult result = run_job(star_of_flows(2, kLong), job).jobs[0];
  REQUIRE(result.messages.size() == 4);
  CHECK(result.messages[0].end_s == within(2 * kLong + 2e-4, 1e-9));
  CHECK(result.messages[1].end_s == within(2 * kLong + 3e-4, 1e-9));
  CHECK(result.messages[1].start_s == 0);
  // The second pull is handed over while the first is under way.
  CHECK(result.messages[3].end_s == within(4 * kLong + 5e-4, 1e-9));
}

TEST_CASE("what stays on a host takes no time: one worker and its server, ranks of one host") {
  for (const bool packets : {false, true}) {
    const JobNetwork network = packets ? star_of_packets(2, kLatency) : star_of_flows(2, kLatency);
    StepJob job =
        with_servers(step_job(1, {1e-3}, {1e-3}, {400'000}), 1, collectives::Placement::colocated);
    JobsResult run = run_job(network, job);
    CHECK(run.messages == 0);
    CHECK(run.elapsed_s == within(2e-3, 1e-6));
    job = step_job(1, {1e-3}, {1e-3}, {400'000}); // a collective of one
    run = run_job(network, job);
    CHECK(run.messages == 0);
    CHECK(run.elapsed_s == within(2e-3, 1e-6));
    // Two ranks per host: hierarchical, inside over its own link.
    job = step_job(4, {0}, {0}, {400'000});
    job.hosts = {0, 0, 1, 1};
    job.collective.algorithm = collectives::AlgorithmId::hierarchical;
    job.collective.links.two_level = collectives::TwoLevel{
        .gpus_per_node = 2, .intra = {.latency_s = 5e-6, .per_byte_s = 1e-10}};
    if (!packets) {
      const NetworkJob made = job_of(job);
      const JobResult result = run_job(network, made).jobs[0];
      // Ring of 2 inside: 1 step with half each way; across: 2 rings of 2 share the cable.
      const double inside = 2 * (5e-6 + 200'000 * 1e-10);
      const double across = 2 * (2 * kLatency + 2 * 100'000 / kRate);
      CHECK(iteration_of(made, result, 0).exchange_end_s == within(inside + across, 1e-9));
      CHECK(result.messages.size() == 2 * 2 * 2); // across: 2 rings x 2 steps x 2 ranks
      for (const JobMessage& message : result.messages) {
        CHECK(message.contributions == (message.part == MessagePart::gradient ? 2 : 0));
      }
    }
  }
}

TEST_CASE("servers add one part after the other") {
  // Two pieces are ready at once; S = 1: pushes of both end at 2 W n / B and n / B before.
  StepJob job = with_servers(step_job(3, {0, 0}, {0, 0}, {125'000, 125'000}), 1);
  job.servers->add_s_per_byte = 2 / (3 * kRate); // of W n bytes: 2 n / B = 0.2 ms
  const JobResult result = run_job(star_of_flows(4), job).jobs[0];
  const double unit = 125'000 / kRate; // 0.1 ms
  std::vector<double> pulls;           // hand-overs, by piece
  for (const JobMessage& message : result.messages) {
    if (message.part == MessagePart::parameter && message.dst == 0) {
      pulls.push_back(message.start_s);
    }
  }
  REQUIRE(pulls.size() == 2);
  CHECK(pulls[0] == within((3 + 2) * unit, 1e-9));
  CHECK(pulls[1] == within((6 + 2) * unit, 1e-9));
  job.servers->add_s_per_byte *= 3; // longer than the pushes of the next: it waits
  CHECK(run_job(star_of_flows(4), job).jobs[0].messages.back().start_s ==
        within((3 + 6 + 6) * unit, 1e-9));
}

TEST_CASE("two jobs on disjoint hosts of a star take what one takes alone") {
  for (const bool packets : {false, true}) {
    for (const bool servers : {false, true}) {
      CAPTURE(packets);
      CAPTURE(servers);
      const JobNetwork network = packets ? star_of_packets(8, kLatency, links::TransportKind::reno)
                                         : star_of_flows(8, kLatency);
      StepJob first = step_job(3, {1e-4, 1e-4}, {1e-4, 1e-4}, {300'000, 150'000});
      first.iterations = 3;
      if (servers) {
        first = with_servers(std::move(first), 1);
      }
      StepJob second = first;
      for (links::NodeId& host : second.hosts) {
        host += 4;
      }
      const JobsResult alone = run_job(network, first);
      const std::vector<NetworkJob> both{job_of(first), job_of(second)};
      const JobsResult run = run_network_jobs(network, both);
      for (std::size_t i = 0; i < 3; ++i) {
        const double end = alone.jobs[0].iterations[i].end_s;
        CHECK(run.jobs[0].iterations[i].end_s == within(end, 1e-12));
        CHECK(run.jobs[1].iterations[i].end_s == within(end, 1e-12));
      }
      CHECK(run.messages == 2 * alone.messages);
    }
  }
}

TEST_CASE("two jobs over one uplink share it fairly") {
  // Leaves of 4 hosts, one spine, all links alike: each job pushes from leaf 0 to leaf 1.
  const links::LinkSpeed link{0, kRate};
  const JobNetwork network = on_flows(links::leaf_spine({2, 4, 1, link, link}));
  const auto job = [](std::int64_t bytes, links::NodeId worker) {
    StepJob made = with_servers(step_job(1, {0}, {0}, {bytes}), 1);
    made.hosts = {worker, worker + 4};
    return job_of(made);
  };
  const std::vector<NetworkJob> jobs{job(1'250'000, 0), job(2'500'000, 1)};
  const JobsResult run = run_network_jobs(network, jobs);
  // Pushes share the uplink until 2 ms; the pull of job 0, alone on its way back, takes 1 ms.
  CHECK(run.jobs[0].messages[0].end_s == within(2e-3, 1e-9));
  CHECK(run.jobs[0].messages[1].end_s == within(3e-3, 1e-9));
  // Job 1 has 1.25 MB left at 2 ms.
  CHECK(run.jobs[1].messages[0].end_s == within(3e-3, 1e-9));
  CHECK(run.jobs[1].messages[1].end_s == within(5e-3, 1e-9));
  CHECK(run.elapsed_s == within(5e-3, 1e-9));
}

TEST_CASE("servers in packets that share fairly agree with flows that count headers") {
  JobNetwork packets = star_of_packets(5, kLatency, links::TransportKind::window);
  packets.packet->queue_discipline = links::QueueDiscipline::flow_round_robin;
  JobNetwork flows = star_of_flows(5, kLatency);
  flows.flow.headers = {kPayload, 40};
  StepJob job = step_job(4, {1e-3, 1e-3}, {1e-3, 1e-3}, {2000 * kPayload, 1000 * kPayload});
  job.iterations = 2;
  job = with_servers(std::move(job), 1);
  for (const std::int64_t iteration : {0, 1}) {
    CHECK(iteration_of(packets, job, iteration).period_s ==
          within(iteration_of(flows, job, iteration).period_s, 0.01));
  }
}

} // namespace stepsim::programs
