#pragma once
// What all parts of a measurement share, and the loop that times blocks: three passes in random
// orders, warm-ups, samples of at least a millisecond (sampling.hpp). Only .cu files include this.
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/number_text.hpp"
#include "base/statistics.hpp"
#include "calibrate/cuda/device.cuh"
#include "calibrate/cuda/measure.hpp"
#include "calibrate/cuda/records.hpp"
#include "calibrate/execute/sampling.hpp"

namespace stepsim::calibrate::gpu {

struct Measurement {
  const MeasureOptions& options;
  const Sink& records;
  const Sink& progress;
  const Job& job = kAlone;
  int device = 0;            // that measures kernels, and all of a rank of a job
  int devices = 1;           // that this process drives: all, or in a job one
  bool same_device = false;  // ranks share a device
  std::int64_t l2_bytes{};   // of `device`
  std::int64_t free_bytes{}; // of the device with least, of all ranks
  bool all_peers = true;     // every device reaches every other one
  std::int64_t unsteady = 0; // blocks whose passes differ too much
  std::uint32_t ranks = 1;
  std::set<std::string> refused{}; // ways of copying and launching: "copy_engine graph"
  std::string failed{};            // the first wrong result; "" = none
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  [[nodiscard]] bool is_over() const {
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - started;
    return (options.total_seconds > 0 && taken.count() > options.total_seconds) ||
           (options.stop && options.stop());
  }
  // Ranks of a job must take the same decisions, else one would wait for ever: what they decide on
  // is made equal by these two. A process alone agrees with itself.
  [[nodiscard]] double slowest(double seconds) const {
    return job.is_alone() ? seconds : job.largest(seconds);
  }
  [[nodiscard]] bool anywhere(bool here) const { return slowest(here ? 1 : 0) > 0; }
  // Starts the time limit of an operation in which ranks wait for each other; all start it at once.
  void begin(const std::string& what) const {
    if (!job.is_alone()) {
      job.begin(what);
      job.barrier();
    }
  }
  void end() const { // nothing is under way
    if (!job.is_alone()) {
      job.begin("");
    }
  }
  void note(const std::string& text) const {
    say(text);
    records(note_line(text, same_device));
  }

  void say(const std::string& text) const {
    progress(text + (same_device ? " (" + std::string(kSameDevice) + ")" : "") + "\n");
  }
};

// The largest vector of a collective, its bytes.
inline constexpr std::int64_t kMostCollectiveBytes = std::int64_t{1} << 30;
// The longest vector that a collective is verified on, its elements.
inline constexpr std::int64_t kMostChecked = 1'000'001;
// Messages between two ranks: the elements of a large one (64 MiB), and how many are timed in a
// row.
inline constexpr std::int64_t kLargeMessage = std::int64_t{1} << 24;
inline constexpr int kMessages = 8;

// Records the time of a message: each of `seconds` is that of kMessages messages in each of
// `rounds` directions, one direction after the other. Seconds that are not positive are left out.
inline void record_messages(const Measurement& measurement, PairRecord out, std::size_t rounds,
                            const std::vector<double>& seconds) {
  for (const double each : seconds) {
    if (each > 0) {
      out.time_s.push_back(each / (kMessages * static_cast<double>(rounds)));
    }
  }
  measurement.records(line(out, measurement.same_device));
}

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Times `repeats` calls between two events; seconds per call. `repetition` counts on.
template <class Call>
double take_sample(const Stream& stream, const Event& begin, const Event& end, int repeats,
                   std::int64_t& repetition, const Call& call) {
  begin.record(stream);
  for (int i = 0; i < repeats; ++i) {
    call(repetition++);
  }
  end.record(stream);
  STEPSIM_CUDA(cudaEventSynchronize(end.get()));
  return seconds_between(begin, end) / repeats;
}

// Opens a block. In a job all ranks throw where one of them cannot.
template <class Block> auto opened(const Measurement& measurement, const Block& block) {
  std::optional<decltype(block.open())> call;
  if (measurement.job.is_alone()) {
    call.emplace(block.open());
    return std::move(*call);
  }
  std::string problem;
  try {
    call.emplace(block.open());
  } catch (const CudaError& error) {
    problem = block.text() + ": " + error.what();
  }
  throw_if_any(measurement.job, problem);
  return std::move(*call);
}

// Calls per sample. A block that names a type OneCall has calls that could overlap, as they do not
// wait until the other ranks have ended the call before.
template <class Block> int calls_of(double seconds_per_call) {
  if constexpr (requires { typename Block::OneCall; }) {
    return 1;
  } else {
    return repeats_for(seconds_per_call);
  }
}

// A block: open() gives something that can be called with the number of the repetition and puts its
// work on `stream` (of the current device); record(pass, repeats, seconds); text(). In a job every
// sample starts after a barrier, and its time is that of the slowest rank.
template <class Block>
void time_blocks(Measurement& measurement, const Stream& stream, const std::vector<Block>& blocks,
                 double seconds, const std::string& what) {
  const auto started = std::chrono::steady_clock::now();
  const Event begin(Event::Use::timing);
  const Event end(Event::Use::timing);
  std::vector<std::vector<std::vector<double>>> samples(blocks.size(),
                                                        std::vector<std::vector<double>>(kPasses));
  std::int64_t left_out = 0;
  std::vector<bool> refused(blocks.size(), false);
  for (int pass = 0; pass < kPasses; ++pass) {
    for (const std::size_t index : visit_order(blocks.size(), pass, measurement.options.seed)) {
      if (measurement.anywhere(seconds_since(started) > seconds || measurement.is_over())) {
        ++left_out;
        continue;
      }
      if (refused[index]) {
        continue;
      }
      const Block& block = blocks[index];
      try {
        const auto call = opened(measurement, block);
        std::int64_t repetition = 0;
        const auto sample = [&](int repeats) {
          measurement.begin(block.text());
          return measurement.slowest(take_sample(stream, begin, end, repeats, repetition, call));
        };
        (void)sample(pass == 0 ? kWarmUps : 3);
        const int repeats = calls_of<Block>(sample(3));
        std::vector<double>& mine = samples[index][static_cast<std::size_t>(pass)];
        std::vector<double> all;
        for (const auto& each : samples[index]) {
          all.insert(all.end(), each.begin(), each.end());
        }
        while (!enough(pass, mine.size(), all)) {
          const double taken = sample(repeats);
          mine.push_back(taken);
          all.push_back(taken);
        }
        block.record(pass, repeats, mine);
      } catch (const CudaError& error) { // at this size only: the others go on
        if (!measurement.job.is_alone()) {
          throw;
        }
        refused[index] = true;
        measurement.note(block.text() + ": " + error.what());
      }
    }
    measurement.say(what + ": pass " + std::to_string(pass + 1) + " of " + std::to_string(kPasses) +
                    " done after " + base::significant(seconds_since(started), 3) + " s");
  }
  measurement.end();
  if (left_out > 0) {
    const std::string note = what + ": time is up, " + std::to_string(left_out) + " of " +
                             std::to_string(kPasses * static_cast<std::int64_t>(blocks.size())) +
                             " visits left out";
    measurement.note(note);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double difference = pass_difference(samples[i]);
    if (difference > kSteadyPass) {
      ++measurement.unsteady;
      measurement.records(note_line(blocks[i].text() + ": passes differ by " +
                                        base::significant(100 * difference, 3) + " %",
                                    measurement.same_device));
    }
  }
}

// Keeps the device busy for a while: clocks ramp up.
template <class Call> void warm_up(const Stream& stream, const Call& call) {
  const auto started = std::chrono::steady_clock::now();
  std::int64_t repetition = 0;
  while (seconds_since(started) < kLeastLoadSeconds) {
    for (int i = 0; i < kWarmUps; ++i) {
      call(repetition++);
    }
    stream.synchronize();
  }
}

// The parts, in the order in which they run. Those that verify return false where time was up
// before the end, and throw SimulationError where nothing is right.
[[nodiscard]] bool verify_collectives(Measurement& measurement);
void measure_collectives(Measurement& measurement, double seconds);
void measure_pairs(Measurement& measurement, double seconds);
[[nodiscard]] bool verify_kernels(Measurement& measurement);
void measure_kernels(Measurement& measurement, double seconds);
void verify_and_measure_nccl(Measurement& measurement, double seconds);
// Of a job: collectives and pairs of ranks by messages between processes.
void verify_messages(Measurement& measurement);
void measure_messages(Measurement& measurement, double seconds);

} // namespace stepsim::calibrate::gpu
