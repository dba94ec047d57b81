#pragma once
// Values in b bits with a scale per bucket of kBucket values (codec_math.hpp), on the host
// (SPA 11): what the kernels must give, bit by bit. Rounding is to the nearest instead of random,
// so that there is one right answer. The error of a value is at most scale (1/(2L) + 4u), with
// L = 2^(b-1) - 1 and u = 2^-24; 0, scale and -scale come back exactly. Codes of 8 bits are those
// of coll::quantize8, bucket by bucket.
#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::calibrate::gpu {

struct QuantizedBuckets {
  // One scale per bucket, the largest magnitude in it; codes side by side in words
  // (codec_math.hpp).
  std::vector<float> scales;
  std::vector<std::uint32_t> words; // of codes
};

// Finite values (asserted); 4 or 8 bits. The last bucket may be shorter than kBucket.
[[nodiscard]] QuantizedBuckets quantize_buckets(std::span<const float> values, int bits);
// The `count` values that the codes stand for, in the order of the input.
[[nodiscard]] std::vector<float> dequantize_buckets(const QuantizedBuckets& buckets,
                                                    std::size_t count, int bits);

} // namespace stepsim::calibrate::gpu
