#include "programs/job/network_job_collective.hpp"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/random.hpp"
#include "collectives/evaluate/events.hpp"
#include "programs/factors.hpp"
#include "programs/network_job_scenes.hpp"
#include "programs/step/varied_steps.hpp"

using stepsim::base::RandomStream;

namespace stepsim::programs {

namespace {

constexpr double kExact = 1e-9;
constexpr double kLatency = 2e-5;

struct Twins { // the same work as a job on a network and as a step whose durations are formulas
  NetworkJob job;
  StepInput step;
};

// On a star a ring of N takes 2 (N-1) (2 d + n / (N B)).
Twins random_twins(RandomStream& random, std::uint32_t ranks) {
  Twins twins;
  const auto layers = static_cast<std::size_t>(random.integer(1, 8));
  std::vector<std::int64_t> bytes;
  for (std::size_t l = 0; l < layers; ++l) {
    twins.step.forward_s.push_back(random.uniform(0, 1e-3));
    twins.step.backward_s.push_back(random.uniform(1e-5, 2e-3));
    bytes.push_back(random.integer(0, 3) == 0
                        ? 0
                        : random.integer(1, 500) * 4 * static_cast<std::int64_t>(ranks));
  }
  bytes.front() = std::max<std::int64_t>(bytes.front(), 4 * ranks);
  twins.step.update_s = random.uniform(0, 1e-3);
  twins.step.next_forward =
      random.integer(0, 1) == 0 ? NextForward::per_layer : NextForward::barrier;
  twins.job = job_of(ranks, twins.step.forward_s, twins.step.backward_s, bytes);
  twins.job.update_s = twins.step.update_s;
  twins.job.next_forward = twins.step.next_forward;
  twins.job.overlap_backward = random.integer(0, 3) > 0;
  twins.step.gradient_bytes = twins.job.gradient_bytes;
  // Neighbours with bytes are merged at random; a bucket is ready with its first layer.
  std::vector<JobPiece> merged;
  for (const JobPiece& piece : twins.job.pieces) {
    if (piece.bytes == 0) {
      continue;
    }
    if (!merged.empty() && random.integer(0, 2) == 0) {
      merged.back().first_layer = piece.first_layer;
      merged.back().bytes += piece.bytes;
    } else {
      merged.push_back(piece);
    }
  }
  twins.job.pieces = merged;
  for (const JobPiece& piece : merged) {
    Message& message = twins.step.messages.emplace_back();
    for (std::uint32_t l = piece.first_layer; l <= piece.last_layer; ++l) {
      message.layers.push_back(l);
    }
    message.bytes = static_cast<double>(piece.bytes);
    for (std::size_t l = twins.job.overlap_backward ? piece.first_layer : 0; l < layers; ++l) {
      message.ready_s += twins.step.backward_s[l];
    }
    message.seconds = 2.0 * (ranks - 1) * (2 * kLatency + message.bytes / (ranks * kRate));
  }
  return twins;
}

} // namespace

TEST_CASE("rings over flows on a star: the step is that of the ring's formula") {
  RandomStream random({.seed = 71});
  for (int instance = 0; instance < 60; ++instance) {
    CAPTURE(instance);
    const auto ranks = static_cast<std::uint32_t>(random.integer(1, 6));
    CAPTURE(ranks);
    Twins twins = random_twins(random, ranks);
    twins.job.iterations = 3;
    const JobResult run = run_job(star_of_flows(ranks, kLatency), twins.job).jobs[0];
    const StepTimes step = run_step(twins.step);
    for (std::size_t i = 0; i < 3; ++i) {
      const JobIteration& iteration = run.iterations[i];
      const double origin = backward_start_s(step, static_cast<std::int64_t>(i));
      CHECK(iteration.backward_start_s == within(origin, kExact));
      CHECK(iteration.period_s == within(step.period_s, kExact));
      CHECK(iteration.exposed_s == within(step.exposed_s, 1e-9));
      CHECK(iteration.exchange_end_s == within(origin + step.finish_s, kExact));
      CHECK(iteration.start_s ==
            within(iteration_start_s(step, static_cast<std::int64_t>(i)), kExact));
      CHECK(iteration.compute_s ==
            within(step.forward_s + step.backward_s + step.update_s, kExact));
      CHECK(iteration.communication_s == within(ranks > 1 ? step.communication_s : 0, kExact));
    }
    const double origin = backward_start_s(step, 2);
    CHECK(run.iterations.back().end_s == within(makespan_s(step, 3), kExact));
    for (std::size_t p = 0; p < run.pieces.size(); ++p) {
      CHECK(run.pieces[p].ready_s == within(origin + twins.step.messages[p].ready_s, kExact));
      CHECK(run.pieces[p].start_s == within(origin + step.messages[p].start_s, kExact));
      CHECK(run.pieces[p].end_s == within(origin + step.messages[p].end_s, kExact));
    }
    for (std::size_t l = 0; l < run.forward_start_s.size(); ++l) {
      CHECK(run.forward_start_s[l] == within(origin + step.next_forward_s[l], kExact));
    }
  }
}

TEST_CASE("rings over flows whose ranks enter together: workers differ as in varied steps") {
  RandomStream random({.seed = 72});
  for (int instance = 0; instance < 30; ++instance) {
    CAPTURE(instance);
    const auto ranks = static_cast<std::uint32_t>(random.integer(2, 6));
    Twins twins = random_twins(random, ranks);
    // One bucket, so that the order is no matter.
    JobPiece& piece = twins.job.pieces.front();
    Message& message = twins.step.messages.front();
    piece.first_layer = 0;
    piece.last_layer = static_cast<std::uint32_t>(twins.job.forward_s.size()) - 1;
    message.layers.clear();
    message.ready_s = 0;
    for (std::uint32_t l = 0; l <= piece.last_layer; ++l) {
      message.layers.push_back(l);
      message.ready_s += twins.step.backward_s[piece.last_layer - l];
    }
    twins.job.pieces.resize(1);
    twins.step.messages.resize(1);
    twins.job.by_layer = true;
    twins.job.iterations = 5;
    twins.job.variability = {.compute_cv = 0.3,
                             .stragglers = {{.worker = 1, .factor = 1.2}},
                             .seed = static_cast<std::uint64_t>(instance)};
    const JobResult run = run_job(star_of_flows(ranks, kLatency), twins.job).jobs[0];
    const VariedSteps varied =
        run_varied_steps(twins.step, stepsim::layers::Jitter(twins.job.variability, ranks), 5, 0);
    for (std::size_t i = 0; i < 5; ++i) {
      const JobIteration& iteration = run.iterations[i];
      const VariedIteration& other = varied.iterations[i];
      CHECK(iteration.start_s == within(other.start_s, kExact));
      CHECK(iteration.compute_end_s == within(other.compute_end_s, kExact));
      CHECK(iteration.exchange_start_s == within(other.exchange_start_s, kExact));
      CHECK(iteration.exchange_end_s == within(other.exchange_end_s, kExact));
      CHECK(iteration.period_s == within(other.period_s, kExact));
      CHECK(iteration.exposed_s == within(other.exposed_s, 1e-9));
    }
    CHECK(run.iterations.back().end_s == within(varied.makespan_s, kExact));
  }
}

TEST_CASE("collectives over flows: ranks enter when their own gradients are ready") {
  constexpr std::uint32_t kRanks = 8;
  for (const auto algorithm :
       {collectives::AlgorithmId::ring, collectives::AlgorithmId::recursive_doubling,
        collectives::AlgorithmId::mst, collectives::AlgorithmId::be, collectives::AlgorithmId::lp,
        collectives::AlgorithmId::double_binary_tree}) {
    for (const auto mode :
         {collectives::ReductionMode::overlapped, collectives::ReductionMode::serial}) {
      CAPTURE(static_cast<int>(algorithm));
      NetworkJob job = job_of(kRanks, {0}, {1e-3}, {800'000});
      job.variability = {.compute_cv = 0.5, .seed = 7};
      job.collective.algorithm = algorithm;
      job.collective.reduction_s_per_byte = 1e-10;
      job.collective.options.block = Bytes{80'000};
      job.collective.options.reduction_mode = mode;
      const JobNetwork network = star_of_flows(kRanks, kLatency);
      const JobIteration run = run_job(network, job).jobs[0].iterations[0];

      collectives::Collective alone = job.collective;
      alone.ranks = kRanks;
      alone.bytes = 800'000;
      alone.options.element_bytes = 4;
      auto ranks = std::make_shared<links::RankFabric>();
      ranks->network = network.fabric;
      ranks->hosts = job.hosts;
      alone.links.fabric = ranks;
      for (std::uint32_t worker = 0; worker < kRanks; ++worker) {
        alone.enter_s.push_back(compute_factor(job.variability, worker, 1) * 1e-3);
      }
      CHECK(run.exchange_end_s == within(collectives::events(alone).seconds, kExact));
    }
  }
}

} // namespace stepsim::programs
