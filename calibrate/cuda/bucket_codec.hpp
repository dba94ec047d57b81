#pragma once
// Host reference of the bucket codec (SPA 11): quantizes values to b bits, with one scale per
// bucket of kBucket values (codec_math.hpp). The kernels must give the same bits. Values are
// rounded to the nearest level instead of randomly, so that there is one right answer. The error of
// a value is at most scale (1/(2L) + 4u), with L = 2^(b-1) - 1 and u = 2^-24; 0, scale and -scale
// are restored exactly. Codes of 8 bits equal collectives::quantize8 applied to each bucket.
#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::calibrate::gpu {

struct QuantizedBuckets {
  // [bucket] scale, the largest magnitude in the bucket. The codes are packed into words
  // (codec_math.hpp).
  std::vector<float> scales;
  std::vector<std::uint32_t> words; // packed codes
};

// Quantizes finite values (asserted) to 4 or 8 bits. The last bucket may be shorter than kBucket.
[[nodiscard]] QuantizedBuckets quantize_buckets(std::span<const float> values, int bits);
// Restores the `count` values of the codes, in the order of the input.
[[nodiscard]] std::vector<float> dequantize_buckets(const QuantizedBuckets& buckets,
                                                    std::size_t count, int bits);

} // namespace stepsim::calibrate::gpu
