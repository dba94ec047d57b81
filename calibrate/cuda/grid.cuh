#pragma once
// How threads of a grid share out elements, for .cu files.
#include <cuda_runtime.h>

#include <cstdint>

#include "calibrate/cuda/kernels.cuh"

namespace stepsim::calibrate::gpu {

inline constexpr int kThreads = 256; // of a block

__device__ inline std::int64_t first_index() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t index_stride() {
  return static_cast<std::int64_t>(gridDim.x) * blockDim.x;
}

// Blocks for `work` elements, at least one and no more than run at a time: threads go on by the
// stride of the whole grid, so that any number of blocks covers all elements.
inline int grid_for(std::int64_t work) {
  const std::int64_t blocks = (work + kThreads - 1) / kThreads;
  const std::int64_t most = full_grid();
  return static_cast<int>(blocks < 1 ? 1 : (blocks < most ? blocks : most));
}

// The length that a kernel before this one has left on the device, cut to n: the host never learns
// it, so that it need not wait.
__device__ inline std::int64_t length_of(const Input& input) {
  return input.length != nullptr && *input.length < input.n ? *input.length : input.n;
}

// Calls `see` with every element that falls to this thread of a grid. Values go four at a time from
// the first address that is a multiple of 16 bytes on; each value is seen exactly once, in an order
// that is not that of the vector.
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

// A thread takes four values at a time.
inline int stream_grid(const Input& input) { return grid_for((input.n + 3) / 4); }

} // namespace stepsim::calibrate::gpu
