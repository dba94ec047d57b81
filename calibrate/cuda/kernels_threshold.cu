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
__global__ void sample_kernel(const float* x, std::int64_t n, std::int64_t count, float* sample) {
  for (std::int64_t i = first_index(); i < count; i += index_stride()) {
    const auto jitter = static_cast<std::int64_t>(
        base::mix64(static_cast<std::uint64_t>(i) + 0x9e3779b97f4a7c15ULL) %
        static_cast<std::uint64_t>(kSampleStride));
    const std::int64_t at = i * kSampleStride + jitter;
    sample[i] = x[at < n ? at : n - 1];
  }
}

// Takes everything that is at least the threshold of the sample: "above" is strict, so that the key
// below it is used.
__global__ void take_threshold_kernel(const SelectState* from, SelectState* state) {
  const std::uint32_t key = from->selection.threshold;
  *state = SelectState{};
  state->selection = {key > 0 ? key - 1 : 0, 0};
  state->threshold = magnitude_of(key);
  state->not_finite = from->not_finite;
}

// How many entries passed the threshold that `passed` had no room for.
__global__ void count_lost_kernel(const SelectState* of_passed, std::uint32_t capacity,
                                  SelectState* state) {
  const std::uint32_t count = of_passed->count;
  state->lost = count > capacity ? count - capacity : 0;
}

// Sum and sum of squares in double: over 2^28 values floats would lose the small ones. Warps add
// theirs in an order that changes, so that the last bits of the moments may differ from run to run.
__global__ void moments_kernel(Input input, SelectState* state) {
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
}

__device__ void set_selection(SelectState& state, float threshold) {
  state.threshold = threshold > 0 ? threshold : 0.0F;
  state.selection = {magnitude_key(state.threshold), 0};
}

// The threshold mean + z sigma of a normal distribution with these moments. Rounding can make the
// variance of nearly equal values negative: it is then 0.
__global__ void gaussian_begin_kernel(Input input, double z, SelectState* state) {
  const auto n = static_cast<double>(length_of(input));
  const double mean = state->sum / n;
  const double variance = state->squares / n - mean * mean;
  set_selection(*state, static_cast<float>(mean + z * sqrt(variance > 0 ? variance : 0.0)));
}

__global__ void count_above_kernel(Input input, SelectState* state) {
  if (state->settled != 0) {
    return;
  }
  const std::uint32_t threshold = state->selection.threshold;
  std::uint32_t above = 0;
  for_each_value(input, [&](float value) { above += magnitude_key(value) > threshold ? 1 : 0; });
  above = warp_sum(above);
  if (threadIdx.x % kWarp == 0 && above > 0) {
    atomicAdd(&state->above, above);
  }
}

// One correction: half of the threshold if fewer than 2/3 of k entries lie above, 1.5 times it if
// more than 4/3 do, else it is settled and later kernels return at once. After the last correction
// the selection is taken as it is, within these bounds or not.
__global__ void gaussian_correct_kernel(std::uint32_t k, SelectState* state) {
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
}

} // namespace

// Two selections: of the sample, for a threshold, and of what passes it, for at most k. The sample
// is asked for the same share as the vector, at least one entry. If it gives too high a threshold,
// fewer than k pass and all of them are taken; if too low, entries beyond the capacity of `passed`
// are lost and counted.
void select_sampled(const Input& input, std::uint32_t k, Workspace& work, Workspace& sample_work,
                    float* sample, const List& passed, const List& out, cudaStream_t stream) {
  const std::int64_t count = input.n / kSampleStride > 0 ? input.n / kSampleStride : 1;
  const std::int64_t scaled = static_cast<std::int64_t>(k) * count / input.n;
  const auto sample_k = static_cast<std::uint32_t>(scaled > 0 ? scaled : 1);
  sample_kernel<<<grid_for(count), kThreads, 0, stream>>>(input.values, input.n, count, sample);
  find_threshold({sample, count, nullptr, nullptr}, sample_k, sample_work, stream);
  take_threshold_kernel<<<1, 1, 0, stream>>>(sample_work.state.get(), work.state.get());
  compact(input, work, passed, stream);
  const std::uint32_t* length = &work.state.get()->count;
  select_exact({passed.values, passed.capacity, length, passed.indices}, k, sample_work, out,
               stream);
  count_lost_kernel<<<1, 1, 0, stream>>>(work.state.get(), passed.capacity,
                                         sample_work.state.get());
}

void select_gaussian(const Input& input, std::uint32_t k, double z, Workspace& work,
                     const List& out, cudaStream_t stream) {
  constexpr int kCorrections = 3;
  STEPSIM_CUDA(cudaMemsetAsync(work.state.get(), 0, sizeof(SelectState), stream));
  SelectState* state = work.state.get();
  moments_kernel<<<stream_grid(input), kThreads, 0, stream>>>(input, state);
  gaussian_begin_kernel<<<1, 1, 0, stream>>>(input, z, state);
  for (int i = 0; i < kCorrections; ++i) {
    count_above_kernel<<<stream_grid(input), kThreads, 0, stream>>>(input, state);
    gaussian_correct_kernel<<<1, 1, 0, stream>>>(k, state);
  }
  compact(input, work, out, stream);
}

} // namespace stepsim::calibrate::gpu
