// Kernels that pass once over vectors: additions, stores, sums, test data. Additions and stores are
// bound by memory and go 128 bits at a time where both pointers have the same offset within 16
// bytes; the few elements before and behind go one by one.
#include <algorithm>
#include <vector>

#include "base/random.hpp"
#include "calibrate/cuda/block_scan.cuh"
#include "calibrate/cuda/grid.cuh"

namespace stepsim::calibrate::gpu {

namespace {

__global__ void add_kernel(float* x, const float* y, std::int64_t n) {
  const VectorSplit split =
      vector_split(reinterpret_cast<std::uintptr_t>(x), reinterpret_cast<std::uintptr_t>(y), n);
  for (std::int64_t i = first_index(); i < split.head; i += index_stride()) {
    x[i] += y[i];
  }
  auto* wide_x = reinterpret_cast<float4*>(x + split.head);
  const auto* wide_y = reinterpret_cast<const float4*>(y + split.head);
  for (std::int64_t i = first_index(); i < split.vectors; i += index_stride()) {
    float4 sum = wide_x[i];
    const float4 more = wide_y[i];
    sum.x += more.x;
    sum.y += more.y;
    sum.z += more.z;
    sum.w += more.w;
    wide_x[i] = sum;
  }
  for (std::int64_t i = split.head + 4 * split.vectors + first_index(); i < n;
       i += index_stride()) {
    x[i] += y[i];
  }
}

__global__ void store_kernel(float* to, const float* from, std::int64_t n) {
  const VectorSplit split =
      vector_split(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), n);
  for (std::int64_t i = first_index(); i < split.head; i += index_stride()) {
    to[i] = from[i];
  }
  auto* wide_to = reinterpret_cast<float4*>(to + split.head);
  const auto* wide_from = reinterpret_cast<const float4*>(from + split.head);
  for (std::int64_t i = first_index(); i < split.vectors; i += index_stride()) {
    wide_to[i] = wide_from[i];
  }
  for (std::int64_t i = split.head + 4 * split.vectors + first_index(); i < n;
       i += index_stride()) {
    to[i] = from[i];
  }
}

__global__ void sum_magnitudes_kernel(const float* x, std::int64_t n, const std::uint32_t* length,
                                      double* sum) {
  const std::int64_t end = length != nullptr && *length < n ? *length : n;
  double mine = 0;
  for (std::int64_t i = first_index(); i < end; i += index_stride()) {
    mine += fabsf(x[i]);
  }
  mine = warp_sum(mine);
  if (threadIdx.x % kWarp == 0) {
    atomicAdd(sum, mine);
  }
}

// A value depends on seed and index alone, so that a vector is the same whatever the grid. u is
// never 0, of which the logarithm and the inverse root would be infinite.
__global__ void fill_random_kernel(float* x, std::int64_t n, Distribution distribution,
                                   std::uint64_t seed) {
  for (std::int64_t i = first_index(); i < n; i += index_stride()) {
    const std::uint64_t bits =
        base::mix64(seed * 0x9e3779b97f4a7c15ULL + base::mix64(static_cast<std::uint64_t>(i)));
    const float u = static_cast<float>((bits >> 40) + 1) * 0x1p-24F; // (0, 1]
    const float v = static_cast<float>(bits & 0xffffffU) * 0x1p-24F; // [0, 1)
    x[i] = distribution == Distribution::gaussian ? sqrtf(-2 * logf(u)) * cospif(2 * v)
                                                  : (v < 0.5F ? -1.0F : 1.0F) / sqrtf(u);
  }
}

} // namespace

// Asked once per device: a question to the driver at every launch would cost as much as the launch.
// A multiprocessor holds 1024 threads on compute capability 7.5, 1536 on 8.6, 8.9 and 12, else
// 2048.
int full_grid() {
  static thread_local std::vector<int> known; // [device], 0: not asked
  int device = 0;
  STEPSIM_CUDA(cudaGetDevice(&device));
  const auto at = static_cast<std::size_t>(device);
  known.resize(std::max(known.size(), at + 1), 0);
  if (known[at] == 0) {
    int multiprocessors = 0;
    int threads = 0;
    STEPSIM_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    STEPSIM_CUDA(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    known[at] = std::max(1, threads / kThreads) * multiprocessors;
  }
  return known[at];
}

void add(float* x, const float* y, std::int64_t n, cudaStream_t stream) {
  add_kernel<<<grid_for((n + 3) / 4), kThreads, 0, stream>>>(x, y, n);
  STEPSIM_CUDA(cudaGetLastError());
}

void store(float* to, const float* from, std::int64_t n, cudaStream_t stream) {
  store_kernel<<<grid_for((n + 3) / 4), kThreads, 0, stream>>>(to, from, n);
  STEPSIM_CUDA(cudaGetLastError());
}

void sum_magnitudes(const float* x, std::int64_t n, const std::uint32_t* length, double* sum,
                    cudaStream_t stream) {
  STEPSIM_CUDA(cudaMemsetAsync(sum, 0, sizeof(*sum), stream));
  sum_magnitudes_kernel<<<grid_for(n), kThreads, 0, stream>>>(x, n, length, sum);
  STEPSIM_CUDA(cudaGetLastError());
}

void fill_random(float* x, std::int64_t n, Distribution distribution, std::uint64_t seed,
                 cudaStream_t stream) {
  fill_random_kernel<<<grid_for(n), kThreads, 0, stream>>>(x, n, distribution, seed);
  STEPSIM_CUDA(cudaGetLastError());
}

} // namespace stepsim::calibrate::gpu
