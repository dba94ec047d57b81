#pragma once
// Grid-stride loops: which elements each thread of a grid processes. For .cu files.
#include <cuda_runtime.h>

#include <cstdint>

#include "calibrate/cuda/kernels.cuh"

namespace stepsim::calibrate::gpu {

inline constexpr int kThreads = 256; // threads per block

__device__ inline std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t index_stride() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

// Number of blocks for `work` elements: at least one, and at most as many as the device runs at a
// time. Any number of blocks covers all elements, because threads advance by index_stride().
inline int grid_for(std::int64_t work) {
  const std::int64_t blocks = (work + kThreads - 1) / kThreads;
  const std::int64_t most = full_grid();
  return static_cast<int>(blocks < 1 ? 1 : (blocks < most ? blocks : most));
}

// Number of elements of `input`: *input.length, which an earlier kernel wrote, but at most n; n
// without `length`. The host does not read the length, so that it need not wait.
__device__ inline std::int64_t length_of(const Input& input) {
  return input.length != nullptr && *input.length < input.n ? *input.length : input.n;
}

// Calls `see` with every value of `input` that belongs to this thread. The threads of the grid
// together see each value exactly once, but not in the order of the vector: from the first 16-byte
// boundary on, a thread reads four values at a time.
template <class See> __device__ void for_each_value(const Input& input, See see) {
  const std::int64_t n = length_of(input);
  const auto address = reinterpret_cast<std::uintptr_t>(input.values);
  const VectorSplit split = vector_split(address, address, n);
  for (std::int64_t i = first_index(); i < split.head; i += index_stride()) {
    see(input.values[i]);
  }
  const auto* wide = reinterpret_cast<const float4*>(input.values + split.head);
  for (std::int64_t i = first_index(); i < split.vectors; i += index_stride()) {
    const float4 four = wide[i];
    see(four.x);
    see(four.y);
    see(four.z);
    see(four.w);
  }
  for (std::int64_t i = split.head + 4 * split.vectors + first_index(); i < n;
       i += index_stride()) {
    see(input.values[i]);
  }
}

// Number of blocks for for_each_value(), in which a thread reads four values at a time.
inline int stream_grid(const Input& input) { return grid_for((input.n + 3) / 4); }

} // namespace stepsim::calibrate::gpu
