#pragma once
// Memory of a worker in bytes, as the sum of named parts at the time of a step at which the worker
// holds most. Each of P parameters takes v_s bytes as stored, v_p as computed with, v_g for its
// gradient and k_o in the optimizer; the largest bucket has B parameters, and N ranks share:
//
//     strategy  parameters            master      gradients          optimizer
//     none      (v_s + v_p) P                     v_g P              k_o P
//     zero1     v_p P                 v_s P / N   v_g P              k_o P / N
//     zero2     v_p P                 v_s P / N   v_g (P / N + B)    k_o P / N
//     others    v_s P / N                         v_g P / N          k_o P / N
//
// (TRN 5). Without sharding v_g is that of the workload, and the copy v_p of 2 bytes is there
// where computing is in 16 bits; with gradients of 2 bytes the parameters have 2, too, and a master
// copy of v_s unless that is 2. Gradients without sharding come with backward, while activations
// go, unless they are kept between steps: views of buckets, sums of micro-batches, algorithms that
// apply late. The other strategies also hold whole units for a time (live_bytes.hpp).

#include "run/result.hpp"
#include "run/scenario_program.hpp"

namespace stepsim::study {

// What the allocator loses of what comes and goes (fragments, rounding), assumed, and its most; and
// what a process needs before it trains, assumed, with its least and most.
inline constexpr double kAllocatorShare = 0.05;
inline constexpr double kMostAllocatorShare = 0.2;
// What the allocator keeps of what comes and goes beyond a step, so that nvidia-smi shows it:
// medians over the repositories of docs/accuracy.md. FSDP1 frees units by record_stream, which
// keeps more; fully_shard (fsdp2, torchtitan) frees them in a fixed order and keeps what is lost.
inline constexpr double kKeptShare = 0.25;
inline constexpr double kKeptByFsdp1 = 1;
inline constexpr double kContextBytes = 1e9;
inline constexpr double kLeastContextBytes = 0.5e9;
inline constexpr double kMostContextBytes = 2e9;
// Of the capacity, what TensorFlow's allocator leaves to the driver: a twentieth, and since 2020 by
// the compute capability instead, with these ends (MinSystemMemory in its
// gpu_device.cc).
inline constexpr double kReservedShare = 0.05;
inline constexpr double kLeastReservedBytes = 500.0 * (1 << 20);
inline constexpr double kMostReservedBytes = 1800.0 * (1 << 20);

// Bytes of a worker. Activations are empty where they are not known.
struct MemoryParts {
  double parameters{}, master{}, gradients{}, optimizer{}, buckets{}, copies{}, units{}, update{};
  std::optional<double> activations;
  double kept = kKeptShare; // what the allocator keeps of what comes and goes
  // What else would be there if kernels kept less or more, or gradients stayed between steps.
  double spared{}, further{};
  double context = kContextBytes, least_context = kLeastContextBytes,
         most_context = kMostContextBytes;

  [[nodiscard]] double come_and_go() const {
    return buckets + units + update + activations.value_or(0);
  }
  [[nodiscard]] double all() const {
    return parameters + master + gradients + optimizer + copies + come_and_go() + context;
  }
};

// [kind][unit]: the bytes of sharding units: sums over the layers of each, and of what is made
// again the most in one of its backwards.
[[nodiscard]] programs::LiveBytes unit_bytes(const Scenario& scenario,
                                             const std::vector<ProgramUnit>& units);

// What is taken on the GPU of a worker before it trains; nothing else.
[[nodiscard]] MemoryParts memory_before_training(const Scenario& scenario);

// Of training without sharding with so many workers; `summary` has the width of a pipeline.
[[nodiscard]] MemoryParts unsharded_memory(const Scenario& scenario, std::int64_t ranks,
                                           const Summary& summary);

// Fills memory_* of `summary`. Sharded units need times that were recorded with Record::all for at
// least one iteration; the last one counts.
void fill_memory(const MemoryParts& parts, const Cluster& cluster, Summary& summary);
// Parts are found and kept in `known` if it is empty, and always for sharding units.
void fill_memory(const Scenario& scenario, ScenarioProgram& made,
                 const programs::OperationTimes& times, std::optional<MemoryParts>& known,
                 Summary& summary);

// At most memory_bytes of a run of the scenario, bytes; equal to it without sharding.
[[nodiscard]] double least_memory(const Scenario& scenario);

// The most activations of a micro-batch, bytes; empty if they are not known.
[[nodiscard]] std::optional<double> known_activations(const Scenario& scenario);

// "memory 131 of 80 GB: does not fit", "fits", or that `high` does not; empty without a capacity.
[[nodiscard]] std::string memory_verdict(std::optional<double> bytes, std::optional<double> high,
                                         std::optional<double> capacity, std::optional<bool> fits);
// The same where it does not fit, else "".
[[nodiscard]] std::string exceeds_text(const Summary& summary);

} // namespace stepsim::study
