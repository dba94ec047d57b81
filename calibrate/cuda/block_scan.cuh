#pragma once
// Sums, maxima and prefix sums within a warp and a block of threads, for .cu files. Every function
// adds in a fixed order, so that a result does not change from run to run.
#include <cuda_runtime.h>

#include <cstdint>

namespace stepsim::calibrate::gpu {

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
template <class T> __device__ T warp_largest(T value) {
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    const T other = __shfl_xor_sync(kAllLanes, value, distance);
    value = other > value ? other : value;
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

} // namespace stepsim::calibrate::gpu
