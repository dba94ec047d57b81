// Kernels that pass once over vectors: additions, stores, codecs, test data.
#include "base/random.hpp"
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

__global__ void scatter_add_kernel(float* y, const std::int32_t* indices, const float* values,
                                   std::uint32_t size) {
  for (std::int64_t i = first_index(); i < size; i += index_stride()) {
    y[indices[i]] += values[i];
  }
}

__global__ void clear_entries_kernel(float* residual, const std::int32_t* indices,
                                     const std::uint32_t* length, std::uint32_t capacity) {
  const std::uint32_t size = *length < capacity ? *length : capacity;
  for (std::int64_t i = first_index(); i < size; i += index_stride()) {
    residual[indices[i]] = 0;
  }
}

__global__ void truncate16_kernel(const float* x, std::int64_t n, std::uint16_t* out) {
  for (std::int64_t i = first_index(); i < n; i += index_stride()) {
    out[i] = upper_half(x[i]);
  }
}

__global__ void untruncate16_kernel(const std::uint16_t* halves, std::int64_t n, float* out) {
  for (std::int64_t i = first_index(); i < n; i += index_stride()) {
    out[i] = from_upper_half(halves[i]);
  }
}

__global__ void largest_key_kernel(const float* x, std::int64_t n, std::uint32_t* largest) {
  std::uint32_t mine = 0;
  for (std::int64_t i = first_index(); i < n; i += index_stride()) {
    const std::uint32_t key = magnitude_key(x[i]);
    mine = key > mine ? key : mine;
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const std::uint32_t other = __shfl_xor_sync(0xffffffffU, mine, distance);
    mine = other > mine ? other : mine;
  }
  if (threadIdx.x % 32 == 0) {
    atomicMax(largest, mine);
  }
}

__global__ void quantize8_kernel(const float* x, std::int64_t n, const std::uint32_t* scale_key,
                                 std::int8_t* codes) {
  const float scale = magnitude_of(*scale_key);
  for (std::int64_t i = first_index(); i < n; i += index_stride()) {
    // Both steps rounded, as on the host; ties to even.
    codes[i] = scale > 0 ? static_cast<std::int8_t>(
                               __float2int_rn(__fmul_rn(__fdiv_rn(x[i], scale), kQuantizeLevels)))
                         : std::int8_t{0};
  }
}

__global__ void dequantize8_kernel(const std::int8_t* codes, std::int64_t n,
                                   const std::uint32_t* scale_key, float* out) {
  const float scale = magnitude_of(*scale_key);
  for (std::int64_t i = first_index(); i < n; i += index_stride()) {
    out[i] = dequantized(codes[i], scale);
  }
}

__global__ void pack_signs_kernel(const float* x, std::int64_t n, std::uint32_t* words) {
  const std::int64_t rounded = (n + 31) / 32 * 32; // whole warps take part in the vote
  for (std::int64_t i = first_index(); i < rounded; i += index_stride()) {
    const bool negative = i < n && x[i] < 0;
    const unsigned word = __ballot_sync(0xffffffffU, negative);
    if (threadIdx.x % 32 == 0) {
      words[i / 32] = word;
    }
  }
}

__global__ void sum_magnitudes_kernel(const float* x, std::int64_t n, const std::uint32_t* length,
                                      double* sum) {
  const std::int64_t end = length != nullptr && *length < n ? *length : n;
  double mine = 0;
  for (std::int64_t i = first_index(); i < end; i += index_stride()) {
    mine += fabsf(x[i]);
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    mine += __shfl_xor_sync(0xffffffffU, mine, distance);
  }
  if (threadIdx.x % 32 == 0) {
    atomicAdd(sum, mine);
  }
}

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

int full_grid() {
  int device = 0;
  int multiprocessors = 0;
  STEPSIM_CUDA(cudaGetDevice(&device));
  STEPSIM_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
  return 8 * multiprocessors; // of 256 threads: all that a multiprocessor holds
}

void add(float* x, const float* y, std::int64_t n, cudaStream_t stream) {
  add_kernel<<<grid_for((n + 3) / 4), kThreads, 0, stream>>>(x, y, n);
  STEPSIM_CUDA(cudaGetLastError());
}

void store(float* to, const float* from, std::int64_t n, cudaStream_t stream) {
  store_kernel<<<grid_for((n + 3) / 4), kThreads, 0, stream>>>(to, from, n);
  STEPSIM_CUDA(cudaGetLastError());
}

void scatter_add(float* y, const std::int32_t* indices, const float* values, std::uint32_t size,
                 cudaStream_t stream) {
  scatter_add_kernel<<<grid_for(size), kThreads, 0, stream>>>(y, indices, values, size);
  STEPSIM_CUDA(cudaGetLastError());
}

void clear_entries(float* residual, const std::int32_t* indices, const std::uint32_t* length,
                   std::uint32_t capacity, cudaStream_t stream) {
  clear_entries_kernel<<<grid_for(capacity), kThreads, 0, stream>>>(residual, indices, length,
                                                                    capacity);
  STEPSIM_CUDA(cudaGetLastError());
}

void truncate16(const float* x, std::int64_t n, std::uint16_t* out, cudaStream_t stream) {
  truncate16_kernel<<<grid_for(n), kThreads, 0, stream>>>(x, n, out);
  STEPSIM_CUDA(cudaGetLastError());
}

void untruncate16(const std::uint16_t* halves, std::int64_t n, float* out, cudaStream_t stream) {
  untruncate16_kernel<<<grid_for(n), kThreads, 0, stream>>>(halves, n, out);
  STEPSIM_CUDA(cudaGetLastError());
}

void quantize8(const float* x, std::int64_t n, std::uint32_t* scale_key, std::int8_t* codes,
               cudaStream_t stream) {
  STEPSIM_CUDA(cudaMemsetAsync(scale_key, 0, sizeof(*scale_key), stream));
  largest_key_kernel<<<grid_for(n), kThreads, 0, stream>>>(x, n, scale_key);
  STEPSIM_CUDA(cudaGetLastError());
  quantize8_kernel<<<grid_for(n), kThreads, 0, stream>>>(x, n, scale_key, codes);
  STEPSIM_CUDA(cudaGetLastError());
}

void dequantize8(const std::int8_t* codes, std::int64_t n, const std::uint32_t* scale_key,
                 float* out, cudaStream_t stream) {
  dequantize8_kernel<<<grid_for(n), kThreads, 0, stream>>>(codes, n, scale_key, out);
  STEPSIM_CUDA(cudaGetLastError());
}

void pack_signs(const float* x, std::int64_t n, std::uint32_t* words, cudaStream_t stream) {
  pack_signs_kernel<<<grid_for(n), kThreads, 0, stream>>>(x, n, words);
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
