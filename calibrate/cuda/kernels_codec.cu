// Codecs: 16 bits, 8 bits with one scale, 4 and 8 bits with a scale per bucket, signs.
#include "calibrate/cuda/grid.cuh"

namespace stepsim::calibrate::gpu {

namespace {

// Division and product are rounded one after the other, as on the host; a compiler that fused or
// reordered them would give other codes at ties. Ties to even; 0 where all values are 0.
__device__ std::int32_t quantized(float value, float scale, int bits) {
  return scale > 0 ? __float2int_rn(__fmul_rn(__fdiv_rn(value, scale), levels_of(bits))) : 0;
}

// A warp per bucket, every lane with neighbouring values: whole words.
template <int Bits>
__global__ void quantize_buckets_kernel(const float* x, std::int64_t n, float* scales,
                                        std::uint32_t* words) {
  constexpr int kValues = kBucket / kWarp; // of a lane
  constexpr int kInWord = kWordBits / Bits;
  static_assert(kValues % kInWord == 0);
  const int lane = static_cast<int>(threadIdx.x) % kWarp;
  const std::int64_t buckets = buckets_for(n);
  for (std::int64_t bucket = first_index() / kWarp; bucket < buckets;
       bucket += index_stride() / kWarp) {
    const std::int64_t begin = bucket * kBucket + lane * kValues;
    float values[kValues];
    std::uint32_t largest = 0;
    for (int i = 0; i < kValues; ++i) {
      values[i] = begin + i < n ? x[begin + i] : 0.0F;
      largest = max(largest, magnitude_key(values[i]));
    }
    const float scale = magnitude_of(warp_largest(largest));
    if (lane == 0) {
      scales[bucket] = scale;
    }
    for (int i = 0; i < kValues; i += kInWord) {
      std::uint32_t word = 0;
      for (int j = 0; j < kInWord; ++j) {
        word |= code_field(quantized(values[i + j], scale, Bits), Bits, j);
      }
      if (begin + i < n) {
        words[(begin + i) / kInWord] = word;
      }
    }
  }
}

template <int Bits>
__global__ void add_buckets_kernel(const float* scales, const std::uint32_t* words, std::int64_t n,
                                   float* out) {
  constexpr int kInWord = kWordBits / Bits;
  for_each_index(n, [&](std::int64_t i) {
    const std::int32_t code = code_in(words[i / kInWord], Bits, static_cast<int>(i % kInWord));
    // Added as rounded, not fused with the product.
    out[i] = __fadd_rn(out[i], dequantized(code, scales[i / kBucket], Bits));
  });
}

} // namespace

void truncate16(const float* x, std::int64_t n, std::uint16_t* out, cudaStream_t stream) {
  run_for_each(n, stream, [=] __device__(std::int64_t i) { out[i] = upper_half(x[i]); });
}

void untruncate16(const std::uint16_t* halves, std::int64_t n, float* out, cudaStream_t stream) {
  run_for_each(n, stream, [=] __device__(std::int64_t i) { out[i] = from_upper_half(halves[i]); });
}

// Bits of magnitudes rise with the magnitude (kernel_math.hpp), so that the largest is found by an
// atomic maximum of integers, which does not depend on the order.
void quantize8(const float* x, std::int64_t n, std::uint32_t* scale_key, std::int8_t* codes,
               cudaStream_t stream) {
  STEPSIM_CUDA(cudaMemsetAsync(scale_key, 0, sizeof(*scale_key), stream));
  run_in_blocks(grid_for(n), kThreads, stream, [=] __device__ {
    std::uint32_t largest = 0;
    for_each_index(n, [&](std::int64_t i) { largest = max(largest, magnitude_key(x[i])); });
    largest = warp_largest(largest);
    if (threadIdx.x % kWarp == 0) {
      atomicMax(scale_key, largest);
    }
  });
  run_in_blocks(grid_for(n), kThreads, stream, [=] __device__ {
    const float scale = magnitude_of(*scale_key);
    for_each_index(
        n, [&](std::int64_t i) { codes[i] = static_cast<std::int8_t>(quantized(x[i], scale, 8)); });
  });
}

void dequantize8(const std::int8_t* codes, std::int64_t n, const std::uint32_t* scale_key,
                 float* out, cudaStream_t stream) {
  run_in_blocks(grid_for(n), kThreads, stream, [=] __device__ {
    const float scale = magnitude_of(*scale_key);
    for_each_index(n, [&](std::int64_t i) { out[i] = dequantized(codes[i], scale, 8); });
  });
}

// A ballot of a warp is a word of 32 signs, of which lane i gives bit i. All lanes of a warp have
// to vote, so that indices run to a multiple of 32 and lanes beyond n vote "not negative".
void pack_signs(const float* x, std::int64_t n, std::uint32_t* words, cudaStream_t stream) {
  run_for_each(words_for(n, 1) * kWarp, stream, [=] __device__(std::int64_t i) {
    const unsigned word = __ballot_sync(kAllLanes, i < n && x[i] < 0);
    if (threadIdx.x % kWarp == 0) {
      words[i / kWarp] = word;
    }
  });
}

void quantize_buckets(const float* x, std::int64_t n, int bits, float* scales, std::uint32_t* words,
                      cudaStream_t stream) {
  const auto kernel = bits == 4 ? quantize_buckets_kernel<4> : quantize_buckets_kernel<8>;
  kernel<<<grid_for(buckets_for(n) * kWarp), kThreads, 0, stream>>>(x, n, scales, words);
}

void add_buckets(const float* scales, const std::uint32_t* words, std::int64_t n, int bits,
                 float* out, cudaStream_t stream) {
  const auto kernel = bits == 4 ? add_buckets_kernel<4> : add_buckets_kernel<8>;
  kernel<<<grid_for(n), kThreads, 0, stream>>>(scales, words, n, out);
}

// The sign that most lists have, as 1 or -1, and 0 on a tie (`vote`).
void vote_signs(const std::uint32_t* words, int lists, std::int64_t n, float* out,
                cudaStream_t stream) {
  const std::int64_t length = words_for(n, 1);
  run_for_each(n, stream, [=] __device__(std::int64_t i) {
    int negatives = 0;
    for (int list = 0; list < lists; ++list) {
      negatives += static_cast<int>(words[list * length + i / kWordBits] >> (i % kWordBits) & 1U);
    }
    out[i] = vote(negatives, lists);
  });
}

} // namespace stepsim::calibrate::gpu
