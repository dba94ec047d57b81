// Approximate selectors: a threshold from a sample or from moments, then compaction.
// All decisions are made by kernels of one thread, because a host that read the counts would have
// to wait for the device at every step.
#include "base/random.hpp"
#include "calibrate/cuda/grid.cuh"

namespace stepsim::calibrate::gpu {

namespace {

constexpr std::int64_t kSampleStride = 100;

// One value of every hundred, at a pseudo-random place within its hundred: a fixed stride could
// always hit the same column of a layer. The places are the same in every run.
void draw_sample(const Input& input, std::int64_t count, float* sample, cudaStream_t stream) {
  const float* const x = input.values;
  const std::int64_t last = input.n - 1;
  run_for_each(count, stream, [=] __device__(std::int64_t i) {
    const auto jitter = static_cast<std::int64_t>(
        base::mix64(static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15ULL) %
        static_cast<std::uint64_t>(kSampleStride));
    sample[i] = x[min(i * kSampleStride + jitter, last)];
  });
}

__device__ void set_selection(SelectState& state, float threshold) {
  state.threshold = threshold > 0 ? threshold : 0.0F;
  state.selection = {magnitude_key(state.threshold), 0};
}

} // namespace

// Two selections: of the sample, for a threshold, and of what passes it, for at most k. The sample
// is asked for the same share as the vector, at least one entry. If it gives too high a threshold,
// fewer than k pass and all of them are taken; if too low, entries beyond the capacity of `passed`
// are lost and counted.
void select_sampled(const Input& input, std::uint32_t k, Workspace& work, Workspace& sample_work,
                    float* sample, const List& passed, const List& out) {
  const std::int64_t count = input.n / kSampleStride > 0 ? input.n / kSampleStride : 1;
  const std::int64_t scaled = static_cast<std::int64_t>(k) * count / input.n;
  SelectState* const of_sample = sample_work.state.get();
  SelectState* const state = work.state.get();
  draw_sample(input, count, sample, work.stream);
  find_threshold({sample, count}, static_cast<std::uint32_t>(scaled > 0 ? scaled : 1), sample_work);
  // Takes everything that is at least the threshold of the sample: "above" is strict, so that the
  // key below it is used.
  run_in_blocks(1, 1, work.stream, [=] __device__ {
    const std::uint32_t key = of_sample->selection.threshold;
    *state = SelectState{};
    state->selection = {key > 0 ? key - 1 : 0, 0};
    state->threshold = magnitude_of(key);
    state->not_finite = of_sample->not_finite;
  });
  compact(input, work, passed);
  select_exact({passed.values, passed.capacity, &state->count, passed.indices}, k, sample_work,
               out);
  run_in_blocks(1, 1, work.stream, [=, capacity = passed.capacity] __device__ {
    of_sample->lost = state->count > capacity ? state->count - capacity : 0;
  });
}

// The threshold starts at mean + z sigma of a normal distribution with the moments of the values.
void select_gaussian(const Input& input, std::uint32_t k, double z, Workspace& work,
                     const List& out) {
  constexpr int kCorrections = 3;
  SelectState* const state = work.state.get();
  STEPSIM_CUDA(cudaMemsetAsync(state, 0, sizeof(SelectState), work.stream));
  // Sum and sum of squares in double: over 2^28 values floats would lose the small ones. Warps add
  // theirs in an order that changes, so that the last bits of the moments may differ from run to
  // run.
  run_in_blocks(stream_grid(input), kThreads, work.stream, [=] __device__ {
    double sum = 0;
    double squares = 0;
    std::uint32_t not_finite = 0;
    for_each_value(input, [&](float value) {
      not_finite += is_finite_key(magnitude_key(value)) ? 0 : 1;
      sum += value;
      squares += static_cast<double>(value) * value;
    });
    sum = warp_sum(sum);
    squares = warp_sum(squares);
    if (threadIdx.x % kWarp == 0) {
      atomicAdd(&state->sum, sum);
      atomicAdd(&state->squares, squares);
    }
    if (not_finite > 0) {
      atomicAdd(&state->not_finite, not_finite);
    }
  });
  // Rounding can make the variance of nearly equal values negative: it is then 0.
  run_in_blocks(1, 1, work.stream, [=] __device__ {
    const auto n = static_cast<double>(length_of(input));
    const double mean = state->sum / n;
    const double variance = state->squares / n - mean * mean;
    set_selection(*state, static_cast<float>(mean + z * sqrt(variance > 0 ? variance : 0.0)));
  });
  for (int i = 0; i < kCorrections; ++i) {
    run_in_blocks(stream_grid(input), kThreads, work.stream, [=] __device__ {
      if (state->settled != 0) {
        return;
      }
      const std::uint32_t threshold = state->selection.threshold;
      std::uint32_t above = 0;
      for_each_value(input,
                     [&](float value) { above += magnitude_key(value) > threshold ? 1 : 0; });
      above = warp_sum(above);
      if (threadIdx.x % kWarp == 0 && above > 0) {
        atomicAdd(&state->above, above);
      }
    });
    // One correction: half of the threshold if fewer than 2/3 of k entries lie above, 1.5 times it
    // if more than 4/3 do, else it is settled and later kernels return at once. After the last
    // correction the selection is taken as it is, within these bounds or not.
    run_in_blocks(1, 1, work.stream, [=] __device__ {
      const std::uint64_t count = state->above;
      state->above = 0;
      if (state->settled != 0) {
        return;
      }
      if (3 * count < 2 * std::uint64_t{k}) {
        set_selection(*state, state->threshold * 0.5F);
      } else if (3 * count > 4 * std::uint64_t{k}) {
        set_selection(*state, state->threshold * 1.5F);
      } else {
        state->settled = 1;
      }
    });
  }
  compact(input, work, out);
}

} // namespace stepsim::calibrate::gpu
