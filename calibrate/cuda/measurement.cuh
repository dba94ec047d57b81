#pragma once
// What all parts of a measurement share, and the loop that times blocks: three passes in random
// orders, warm-ups, samples of at least a millisecond (sampling.hpp). Only .cu files include this.
#include <chrono>
#include <cstdint>
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
  int devices = 1;
  bool same_device = false;  // ranks share a device
  std::int64_t l2_bytes{};   // of device 0
  std::int64_t free_bytes{}; // of the device with least
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
  void note(const std::string& text) const {
    say(text);
    records(note_line(text, same_device));
  }

  void say(const std::string& text) const {
    progress(text + (same_device ? " (" + std::string(kSameDevice) + ")" : "") + "\n");
  }
};

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

// A block: open() gives something that can be called with the number of the repetition and puts its
// work on `stream` (of the current device); record(pass, repeats, seconds); text().
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
      if (seconds_since(started) > seconds || measurement.is_over()) {
        ++left_out;
        continue;
      }
      if (refused[index]) {
        continue;
      }
      const Block& block = blocks[index];
      try {
        const auto call = block.open();
        std::int64_t repetition = 0;
        const int warm_ups = pass == 0 ? kWarmUps : 3;
        (void)take_sample(stream, begin, end, warm_ups, repetition, call);
        const int repeats = repeats_for(take_sample(stream, begin, end, 3, repetition, call));
        std::vector<double>& mine = samples[index][static_cast<std::size_t>(pass)];
        std::vector<double> all;
        for (const auto& each : samples[index]) {
          all.insert(all.end(), each.begin(), each.end());
        }
        while (!enough(pass, mine.size(), all)) {
          const double taken = take_sample(stream, begin, end, repeats, repetition, call);
          mine.push_back(taken);
          all.push_back(taken);
        }
        block.record(pass, repeats, mine);
      } catch (const CudaError& error) { // at this size only: the others go on
        refused[index] = true;
        measurement.note(block.text() + ": " + error.what());
      }
    }
    measurement.say(what + ": pass " + std::to_string(pass + 1) + " of " + std::to_string(kPasses) +
                    " done after " + base::significant(seconds_since(started), 3) + " s");
  }
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

} // namespace stepsim::calibrate::gpu
