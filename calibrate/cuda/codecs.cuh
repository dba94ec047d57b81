#pragma once
// Codecs of 1, 4, 8 and 16 bits per value (PIP 6; SPA 8.3, 11), enqueued on a stream. Pointers are
// device memory, counts are elements, and no call waits for the device. A call throws CudaError if
// a launch fails.
#include <cuda_runtime.h>

#include <cstdint>

#include "calibrate/cuda/codec_math.hpp"

namespace stepsim::calibrate::gpu {

// Truncates every value to its upper half (16 bits), and restores it with zeros below.
void truncate16(const float* x, std::int64_t n, std::uint16_t* out, cudaStream_t stream);
void untruncate16(const std::uint16_t* halves, std::int64_t n, float* out, cudaStream_t stream);

// Quantizes all values with one scale: *scale_key is set to the bits of the largest |v|
// (magnitude_key of kernel_math.hpp). The device computes it before the codes, so that the host
// need not wait for it.
void quantize8(const float* x, std::int64_t n, std::uint32_t* scale_key, std::int8_t* codes,
               cudaStream_t stream);
void dequantize8(const std::int8_t* codes, std::int64_t n, const std::uint32_t* scale_key,
                 float* out, cudaStream_t stream);

// Quantizes to 4 or 8 bits with one scale per bucket. `scales` has buckets_for(n) values and
// `words` words_for(n, bits) words.
void quantize_buckets(const float* x, std::int64_t n, int bits, float* scales, std::uint32_t* words,
                      cudaStream_t stream);
// out += the values of the codes. A rank calls this once for the codes of each other rank.
void add_buckets(const float* scales, const std::uint32_t* words, std::int64_t n, int bits,
                 float* out, cudaStream_t stream);

// Packs the signs of x, one bit per value (1 = negative), into words_for(n, 1) words.
void pack_signs(const float* x, std::int64_t n, std::uint32_t* words, cudaStream_t stream);
// out = the majority vote (codec_math.hpp) over `lists` lists of signs. The lists follow each
// other, words_for(n, 1) words each.
void vote_signs(const std::uint32_t* words, int lists, std::int64_t n, float* out,
                cudaStream_t stream);

} // namespace stepsim::calibrate::gpu
