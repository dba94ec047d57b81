#pragma once
// The state that the parts of a measurement share (collectives, pairs of devices, kernels, NCCL,
// messages of a job), and the loop that times blocks, one block per algorithm, size and way of
// launching: three passes in random orders, warm-ups, samples of at least a millisecond
// (sampling.hpp). Only .cu files include this header.
#include <set>

#include "base/collected.hpp"
#include "base/quantity.hpp"
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
  int device = 0;            // device of the kernels; in a job, of all work of this rank
  int devices = 1;           // number of devices of this process: all that it sees; in a job, one
  bool same_device = false;  // ranks share a device
  std::int64_t l2_bytes{};   // L2 cache of `device`
  std::int64_t free_bytes{}; // smallest free memory of any device of any rank
  bool has_cublas = true;    // false once verification has found that it is missing
  std::int64_t unsteady = 0; // number of blocks whose passes differ by more than kSteadyPass
  std::uint32_t ranks = 1;
  // Ways that are not used any more, because CUDA refused them or they gave a wrong result:
  // "copy_engine graph".
  std::set<std::string> refused{};
  std::string failed{}; // description of the first wrong result; "" = none
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();

  [[nodiscard]] bool is_over() const {
    return (options.total_seconds > 0 && seconds_since(started) > options.total_seconds) ||
           (options.stop && options.stop());
  }
  // slowest() returns the largest `seconds` of all ranks of a job; anywhere() returns whether
  // `here` is true on any rank. All ranks must call them at the same point. They are used for every
  // decision that all ranks must make alike: otherwise one rank would wait forever. Without a job
  // both return their argument.
  [[nodiscard]] double slowest(double seconds) const {
    return job.is_alone() ? seconds : job.largest(seconds);
  }
  [[nodiscard]] bool anywhere(bool here) const { return slowest(here ? 1 : 0) > 0; }
  // In a job, starts the time limit of the operation `what`, in which ranks wait for each other,
  // and then waits until all ranks are here.
  void begin(const std::string& what) const {
    if (!job.is_alone()) {
      job.begin(what);
      job.barrier();
    }
  }
  void end() const { // ends the time limit
    if (!job.is_alone()) {
      job.begin("");
    }
  }
  template <class Record> void write(const Record& record) const {
    records(line(record, same_device));
  }
  // Writes the samples of a pass with the time of one of the `messages` of a call; samples that are
  // not positive are left out.
  template <class Record>
  void write_times(Record record, int pass, int repeats, const std::vector<double>& seconds,
                   double messages) const {
    record.pass = pass;
    record.repeats = repeats;
    for (const double each : seconds) {
      if (each > 0) {
        record.time_s.push_back(each / messages);
      }
    }
    write(record);
  }
  // Shows the text as progress and writes it as a note, which the calibration repeats as a warning.
  void note(const std::string& text) const {
    say(text);
    records(note_line(text, same_device));
  }

  void say(const std::string& text) const {
    progress(text + (same_device ? " (" + std::string(kSameDevice) + ")" : "") + "\n");
  }
};

// Bytes of the largest vector of which a collective is timed.
inline constexpr std::int64_t kMostCollectiveBytes = std::int64_t{1} << 30;
// Elements of the longest vector on which a collective is verified.
inline constexpr std::int64_t kMostChecked = 1'000'001;
// Messages between two ranks: elements of a large message (64 MiB), and number of messages that are
// timed in a row.
inline constexpr std::int64_t kLargeMessage = std::int64_t{1} << 24;
inline constexpr int kMessages = 8;

// Puts one repetition of some work on a stream of the current device; repetitions are numbered.
using Call = std::function<void(std::int64_t repetition)>;

// Times `repeats` calls between two events and returns the seconds per call. Each call gets the
// number `repetition`, which then increases by 1.
inline double take_sample(const Stream& stream, const Event& begin, const Event& end, int repeats,
                          std::int64_t& repetition, const Call& call) {
  begin.record(stream);
  for (int i = 0; i < repeats; ++i) {
    call(repetition++);
  }
  end.record(stream);
  check_launches();
  STEPSIM_CUDA(cudaEventSynchronize(end));
  return seconds_between(begin, end) / repeats;
}

// Seconds of a call, from one sample after one that warms up.
inline double seconds_of(const Stream& stream, const Call& call) {
  const Event begin(Event::Use::timing);
  const Event end(Event::Use::timing);
  std::int64_t repetition = 0;
  (void)take_sample(stream, begin, end, kWarmUps, repetition, call);
  return take_sample(stream, begin, end, kWarmUps, repetition, call);
}

// What is timed, at one size and in one way.
template <class Record> struct Block {
  std::string text;                        // names the block in notes and errors
  Record record;                           // without the times
  std::function<Call()> open;              // gives the call for one visit
  double messages = 1;                     // of a call; times are per message
  std::function<void()> prepare{};         // runs before each visit, not timed
  std::function<void(Record&)> complete{}; // adds what is known once the samples are taken
};

// Times all blocks, whose calls go to `stream`, and writes their records. A visit is one block in
// one pass. Once `seconds` have passed, the remaining visits are left out, and a note gives their
// number; `what` names the blocks in notes and progress. In a job every sample starts after a
// barrier, and its time is the time of the slowest rank. If CUDA fails at a block, the block is
// noted and left out; in a job the error is thrown.
template <class Record>
void time_blocks(Measurement& measurement, const Stream& stream,
                 const std::vector<Block<Record>>& blocks, double seconds,
                 const std::string& what) {
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
      const Block<Record>& block = blocks[index];
      try {
        if (block.prepare) {
          block.prepare();
        }
        const Call call = block.open();
        std::int64_t repetition = 0;
        const auto sample = [&](int repeats) {
          measurement.begin(block.text);
          return measurement.slowest(take_sample(stream, begin, end, repeats, repetition, call));
        };
        (void)sample(pass == 0 ? kWarmUps : 3);
        const int repeats = repeats_for(sample(3));
        std::vector<double>& mine = samples[index][static_cast<std::size_t>(pass)];
        while (!enough(static_cast<std::size_t>(pass), samples[index])) {
          mine.push_back(sample(repeats));
        }
        Record record = block.record;
        if (block.complete) {
          block.complete(record);
        }
        measurement.write_times(std::move(record), pass, repeats, mine, block.messages);
      } catch (const CudaError& error) { // at this size only: the others go on
        if (!measurement.job.is_alone()) {
          throw;
        }
        refused[index] = true;
        measurement.note(block.text + ": " + error.what());
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
  const auto differences = base::collected<double>(samples, pass_difference);
  const auto unsteady =
      std::ranges::count_if(differences, [](double each) { return each > kSteadyPass; });
  if (unsteady > 0) {
    const auto most = std::ranges::max_element(differences);
    const auto worst = static_cast<std::size_t>(most - differences.begin());
    measurement.unsteady += unsteady;
    measurement.note(what + ": passes of " + std::to_string(unsteady) + " of " +
                     std::to_string(blocks.size()) + " timings differ by more than 5 %, most by " +
                     base::significant(100 * *most, 3) + " % (" + blocks[worst].text + ")");
  }
}

// Repeats the call for kLeastLoadSeconds, so that the clocks of the device have ramped up.
inline void warm_up(const Stream& stream, const Call& call) {
  const auto started = std::chrono::steady_clock::now();
  std::int64_t repetition = 0;
  while (seconds_since(started) < kLeastLoadSeconds) {
    for (int i = 0; i < kWarmUps; ++i) {
      call(repetition++);
    }
    stream.synchronize();
  }
}

// The parts of a measurement. Verification returns false if it ran out of time. verify_kernels()
// throws SimulationError at the first wrong result; verify_collectives() puts a way of copying with
// a wrong result into `refused` and continues, and throws only if no way is left. `seconds` limits
// the timing of a part.
[[nodiscard]] bool verify_collectives(Measurement& measurement);
void measure_collectives(Measurement& measurement, double seconds);
void measure_pairs(Measurement& measurement, double seconds);
[[nodiscard]] bool verify_kernels(Measurement& measurement);
void measure_kernels(Measurement& measurement, double seconds);
// A collective that runs next to products of matrices: each `call` enqueues it once on `stream`, a
// stream of device 0.
struct Beside {
  std::string exchange; // "allreduce nccl P=8 n=16777216"
  std::int64_t bytes{};
  const Stream* stream = nullptr;
  std::function<void()> call;
};
// Times and records how much both slow each other down, on every device of this process. Without
// cuBLAS it notes that. The second one takes our own ring.
void measure_overlap(Measurement& measurement, const Beside& collective);
void measure_own_overlap(Measurement& measurement);
[[nodiscard]] bool verify_gtopk(Measurement& measurement);
void measure_gtopk(Measurement& measurement, double seconds);
void verify_and_measure_nccl(Measurement& measurement, double seconds);

} // namespace stepsim::calibrate::gpu
