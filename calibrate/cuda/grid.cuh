#pragma once
// Grid-stride loops: which elements each thread of a grid processes. For .cu files.

#include "calibrate/cuda/kernels.cuh"

namespace stepsim::calibrate::gpu {

// Sums, maxima and prefix sums within a warp and a block of threads, for .cu files. Every function
// adds in a fixed order, so that a result does not change from run to run.

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffU;
template <int Threads> inline constexpr int kWarpsOf = Threads / kWarp; // of a block

// The sum over the lanes of a warp, which every lane gets; all 32 lanes must call. In each of five
// steps a lane adds the value of the lane whose number differs from its own in one bit.
template <class T> __device__ T warp_sum(T value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value += __shfl_xor_sync(kAllLanes, value, distance);
  }
  return value;
}
// The largest value over the lanes of a warp, which every lane gets; all 32 lanes must call.
__device__ inline std::uint32_t warp_largest(std::uint32_t value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    value = max(value, __shfl_xor_sync(kAllLanes, value, distance));
  }
  return value;
}

struct Scanned {
  std::uint64_t before; // sum over the threads before this one
  std::uint64_t total;
};

// Exclusive prefix sum over the threads of a block, and the sum over all threads. All `Threads`
// threads of the block must call; no barrier is needed between two calls. Each warp scans its own
// values; every thread then adds the sums of the warps before its own, at most 31.
template <int Threads> __device__ Scanned block_scan(std::uint64_t value) {
  static_assert(Threads % kWarp == 0 && Threads <= kWarp * kWarp);
  __shared__ std::uint64_t warp_sums[kWarpsOf<Threads>];
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  std::uint64_t inclusive = value;
  for (int distance = 1; distance < kWarp; distance *= 2) {
    const std::uint64_t other = __shfl_up_sync(kAllLanes, inclusive, distance);
    inclusive += lane >= distance ? other : 0;
  }
  if (lane == kWarp - 1) {
    warp_sums[warp] = inclusive;
  }
  __syncthreads();
  std::uint64_t warps_before = 0;
  std::uint64_t total = 0;
  for (int i = 0; i < kWarpsOf<Threads>; ++i) {
    const std::uint64_t sum = warp_sums[i];
    warps_before += i < warp ? sum : 0;
    total += sum;
  }
  __syncthreads(); // before the next call writes
  return {warps_before + inclusive - value, total};
}

inline constexpr int kThreads = 256; // threads per block

// A figure of the current device, asked once per device: a question to the driver at every launch
// would cost as much as the launch. `known` has the answers, 0 where nobody asked.
template <class Ask> int known_of_device(std::vector<int>& known, const Ask& ask) {
  int device = 0;
  STEPSIM_CUDA(cudaGetDevice(&device));
  const auto at = static_cast<std::size_t>(device);
  known.resize(std::max(known.size(), at + 1), 0);
  known[at] = known[at] == 0 ? ask(device) : known[at];
  return known[at];
}

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

// Calls `see` with the indices below n that belong to this thread.
template <class See> __device__ void for_each_index(std::int64_t n, See see) {
  for (std::int64_t i = first_index(); i < n; i += index_stride()) {
    see(i);
  }
}

// Enqueues `body` in every thread of so many blocks; each() in one thread for every index below n.
// Both are lambda expressions of the device.
template <class Body> __global__ void body_kernel(const Body body) { body(); }
template <class Body>
void run_in_blocks(std::int64_t blocks, int threads, cudaStream_t stream, const Body& body) {
  body_kernel<Body><<<static_cast<unsigned>(blocks), threads, 0, stream>>>(body);
}
template <class Each> __global__ void each_kernel(std::int64_t n, const Each each) {
  for_each_index(n, each);
}
template <class Each> void run_for_each(std::int64_t n, cudaStream_t stream, const Each& each) {
  each_kernel<Each><<<grid_for(n), kThreads, 0, stream>>>(n, each);
}

// Number of elements of `input`: *input.length, which an earlier kernel wrote, but at most n; n
// without `length`. The host does not read the length, so that it need not wait.
__device__ inline std::int64_t length_of(const Input& input) {
  return input.length != nullptr && *input.length < input.n ? *input.length : input.n;
}

// Calls `wide` with the numbers of the groups of a vector, and `single` with the indices of the
// elements before and behind them, that belong to this thread.
template <class Single, class Wide>
__device__ void for_each_group(const VectorSplit& split, std::int64_t n, Single single, Wide wide) {
  for_each_index(split.vectors, wide);
  for_each_index(n - split.grouped,
                 [&](std::int64_t i) { single(i < split.head ? i : i + split.grouped); });
}

// Calls `see` with every value of `input` that belongs to this thread. The threads of the grid
// together see each value exactly once, but not in the order of the vector: from the first 16-byte
// boundary on, a thread reads four values at a time.
template <class See> __device__ void for_each_value(const Input& input, See see) {
  const std::int64_t n = length_of(input);
  const auto address = reinterpret_cast<std::uintptr_t>(input.values);
  const VectorSplit split = vector_split(address, address, n);
  const auto* wide = reinterpret_cast<const float4*>(input.values + split.head);
  for_each_group(
      split, n, [&](std::int64_t i) { see(input.values[i]); },
      [&](std::int64_t i) {
        const float4 four = wide[i];
        see(four.x);
        see(four.y);
        see(four.z);
        see(four.w);
      });
}

// Number of blocks for for_each_value(), in which a thread reads four values at a time.
inline int stream_grid(const Input& input) { return grid_for((input.n + 3) / 4); }

} // namespace stepsim::calibrate::gpu
