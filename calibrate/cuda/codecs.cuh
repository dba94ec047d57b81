#pragma once
// Codecs as calls on a stream (PIP 6; SPA 8.3, 11): 1, 4, 8 and 16 bits per value. As in
// kernels.cuh pointers are device memory, counts are elements and nothing waits.
#include <cuda_runtime.h>

#include <cstdint>

#include "calibrate/cuda/codec_math.hpp"

namespace stepsim::calibrate::gpu {

// The upper half of every value, and back (16 bits). Like all calls here they throw SimulationError
// if the launch fails.
void truncate16(const float* x, std::int64_t n, std::uint16_t* out, cudaStream_t stream);
void untruncate16(const std::uint16_t* halves, std::int64_t n, float* out, cudaStream_t stream);

// One scale for all: *scale_key = the bits of the largest |v| (magnitude_key of kernel_math.hpp).
// It is computed on the device before the codes, so that the host need not wait for it.
void quantize8(const float* x, std::int64_t n, std::uint32_t* scale_key, std::int8_t* codes,
               cudaStream_t stream);
void dequantize8(const std::int8_t* codes, std::int64_t n, const std::uint32_t* scale_key,
                 float* out, cudaStream_t stream);

// A scale per bucket; 4 or 8 bits. buckets_for(n) scales, words_for(n, bits) words.
void quantize_buckets(const float* x, std::int64_t n, int bits, float* scales, std::uint32_t* words,
                      cudaStream_t stream);
// out += the values of the codes: what a rank does with the list of every other one.
void add_buckets(const float* scales, const std::uint32_t* words, std::int64_t n, int bits,
                 float* out, cudaStream_t stream);

// One bit per value, 1 = negative; words_for(n, 1) words.
void pack_signs(const float* x, std::int64_t n, std::uint32_t* words, cudaStream_t stream);
// out = the vote of `lists` lists of signs, which lie one after the other, words_for(n, 1) words
// each.
void vote_signs(const std::uint32_t* words, int lists, std::int64_t n, float* out,
                cudaStream_t stream);

} // namespace stepsim::calibrate::gpu
