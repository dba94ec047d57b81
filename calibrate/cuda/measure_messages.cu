// Collectives and pairs of the ranks of a job, by messages between their processes: every rank
// executes its own steps of the schedule (rank_steps.hpp) and adds on its GPU. Verified on all
// ranks before anything is timed.
#include <algorithm>

#include "calibrate/cuda/collective_plan.hpp"
#include "calibrate/cuda/job_pairs.cuh"
#include "calibrate/cuda/job_rank.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::int64_t kMostVectorBytes = std::int64_t{1} << 28; // of a vector

std::string text_of(const PlanRequest& request, Passage passage) {
  return std::string(collectives::name(request.op)) + " " +
         std::string(collectives::name(request.algorithm)) + " " + std::string(name(passage)) +
         " P=" + std::to_string(request.ranks) + " n=" + std::to_string(request.elements);
}

// Two vectors on the GPU and as many in page-locked memory of the host.
std::int64_t capacity_of(const Measurement& measurement) {
  return std::min(kMostVectorBytes, measurement.free_bytes / 8) / kElement;
}

// One message in each direction, as the step of a schedule without its additions.
Traffic traffic_of(const Job& job, JobRank& vectors, Passage passage) {
  return {std::string(name(passage)), &vectors.stream(), vectors.capacity(),
          [&job, &vectors, passage](std::span<const Direction> directions, std::int64_t elements) {
            std::vector<ElementMessage> messages;
            for (const Direction& each : directions) {
              messages.push_back({0, each.src, each.dst, 0, elements, true});
            }
            for (const RankStep& step : steps_of(messages, job.rank)) {
              vectors.run(step, passage, false);
            }
          }};
}

void run(JobRank& vectors, const PlanRequest& request, const Job& job, Passage passage) {
  for (const RankStep& step : steps_of(messages_of(request), job.rank)) {
    vectors.run(step, passage);
  }
}

// "" where the result of this rank is right.
std::string problem_of(JobRank& vectors, const PlanRequest& request, const Job& job,
                       Passage passage) {
  std::vector<float> x(static_cast<std::size_t>(request.elements));
  for (std::size_t i = 0; i < x.size(); ++i) {
    x[i] = initial_value(job.rank, static_cast<std::int64_t>(i));
  }
  vectors.fill(x);
  run(vectors, request, job, passage);
  if (!has_result(request.op, job.rank)) {
    return "";
  }
  const std::vector<float> got = vectors.read(request.elements);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const float expected = expected_value(request.op, job.ranks, static_cast<std::int64_t>(i));
    if (got[i] != expected) {
      return text_of(request, passage) + " index=" + std::to_string(i) + ": got " +
             std::to_string(got[i]) + ", expected " + std::to_string(expected);
    }
  }
  return "";
}

struct MessageBlock { // what time_blocks asks of a block
  using OneCall = void;

  Measurement* measurement;
  JobRank* vectors;
  PlanRequest request;
  Passage passage = Passage::mpi_staged;

  [[nodiscard]] auto open() const {
    return [steps = steps_of(messages_of(request), measurement->job.rank), vectors = vectors,
            passage = passage](std::int64_t) {
      for (const RankStep& step : steps) {
        vectors->run(step, passage);
      }
    };
  }
  [[nodiscard]] std::string text() const { return text_of(request, passage); }
  void record(int pass, int repeats, const std::vector<double>& seconds) const {
    CollectiveRecord out;
    out.op = std::string(collectives::name(request.op));
    out.algorithm = std::string(collectives::name(request.algorithm));
    out.variant = std::string(name(passage));
    out.launch = "plain";
    out.ranks = request.ranks;
    out.bytes = request.elements * kElement;
    if (request.algorithm == collectives::AlgorithmId::lp) {
      out.block_bytes = request.block_elements * kElement;
    }
    out.pass = pass;
    out.repeats = repeats;
    std::ranges::copy_if(seconds, std::back_inserter(out.time_s),
                         [](double each) { return each > 0; });
    measurement->records(line(out, measurement->same_device));
  }
};

// Latency and seconds per byte between ranks 0 and 1, for the blocks of `lp`: one sample each after
// a warm-up.
void estimate_link(Measurement& measurement, const Traffic& traffic, PlanRequest& request) {
  const Event begin(Event::Use::timing);
  const Event end(Event::Use::timing);
  const std::int64_t large = std::min<std::int64_t>(traffic.capacity, std::int64_t{1} << 22);
  const auto message = [&](std::int64_t elements) {
    std::int64_t repetition = 0;
    const auto call = [&](std::int64_t i) {
      const Direction there{0, 1};
      const Direction back{1, 0};
      traffic.messages({i % 2 == 0 ? &there : &back, 1}, elements);
    };
    measurement.begin("messages of " + std::to_string(elements) + " elements");
    (void)take_sample(*traffic.stream, begin, end, 2, repetition, call);
    return measurement.slowest(
        take_sample(*traffic.stream, begin, end, 2 * kMessages, repetition, call));
  };
  const double least = message(1);
  const double most = message(large);
  request.link.latency_s = request.link.block_latency_s = least;
  request.link.per_byte_s =
      std::max(most - least, 0.01 * most) / (static_cast<double>(large) * sizeof(float));
  measurement.say("ranks 0 and 1: " + base::significant(1e6 * least, 3) + " us per message, " +
                  base::significant(1e-9 / request.link.per_byte_s, 3) + " GB/s by " +
                  traffic.variant);
}

} // namespace

void verify_messages(Measurement& measurement) {
  const Job& job = measurement.job;
  const std::int64_t capacity = std::min(kMostChecked, capacity_of(measurement));
  JobRank vectors(job, capacity);
  const std::int64_t given = measurement.options.block_bytes / kElement;
  std::int64_t cases = 0;
  for (const Passage passage : passages_of(job)) {
    for (const PlanKind& kind : plan_kinds()) {
      for (const std::int64_t n :
           {std::int64_t{1}, std::int64_t{job.ranks} - 1, std::int64_t{job.ranks}, capacity}) {
        PlanRequest request;
        request.op = kind.op;
        request.algorithm = kind.algorithm;
        request.ranks = job.ranks;
        request.elements = std::min(n, capacity);
        if (kind.algorithm == collectives::AlgorithmId::lp && has_few_blocks(n, given)) {
          request.block_elements = given;
        }
        measurement.begin("verification of " + text_of(request, passage));
        throw_if_any(job, problem_of(vectors, request, job, passage));
        ++cases;
      }
    }
  }
  measurement.end();
  measurement.say("collectives: " + std::to_string(cases) + " cases verified bit by bit on " +
                  std::to_string(job.ranks) + " ranks");
  measurement.records(line(VerifiedRecord{"collectives", cases}, measurement.same_device));
}

void measure_messages(Measurement& measurement, double seconds) {
  const Job& job = measurement.job;
  const std::vector<Passage> passages = passages_of(job);
  JobRank vectors(job, capacity_of(measurement));
  const Traffic traffic = traffic_of(job, vectors, passages.back());
  constexpr double kOfPairs = 0.3;
  measure_job_pairs(measurement, traffic, kOfPairs * seconds);
  PlanRequest base;
  base.ranks = job.ranks;
  estimate_link(measurement, traffic, base);
  const std::int64_t given = measurement.options.block_bytes / kElement;
  std::vector<MessageBlock> blocks;
  for (const std::int64_t size :
       collective_sizes(kElement * vectors.capacity(), job.ranks, measurement.options.dense,
                        measurement.options.seed)) {
    base.elements = size / kElement;
    for (const Passage passage : passages) {
      for (const PlanKind& kind : plan_kinds()) {
        const bool lp = kind.algorithm == collectives::AlgorithmId::lp;
        PlanRequest request = base;
        request.op = kind.op;
        request.algorithm = kind.algorithm;
        if (lp && size > 0) {
          request.block_elements = given > 0 ? given : best_block(request);
        }
        if (size > 0 && (!lp || has_few_blocks(request.elements, request.block_elements))) {
          blocks.push_back({&measurement, &vectors, request, passage});
        }
      }
    }
  }
  measurement.say("collectives: " + std::to_string(blocks.size()) +
                  " blocks to time, P=" + std::to_string(job.ranks));
  time_blocks(measurement, vectors.stream(), blocks, (1 - kOfPairs) * seconds, "collectives");
}

} // namespace stepsim::calibrate::gpu
