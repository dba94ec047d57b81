// What the kernels of quantisation must give. A kernel rounds after the division and again after
// the product, and rounds codes to the nearest, ties to even; lrint does the same in the default
// rounding mode, so that the results can be compared bit by bit.

#include <algorithm>
#include <cassert>
#include <cmath>

#include "calibrate/cuda/codec_math.hpp"

namespace stepsim::calibrate::gpu {

QuantizedBuckets quantize_buckets(std::span<const float> values, int bits) {
  const auto count = static_cast<std::int64_t>(values.size());
  const int in_word = kWordBits / bits;
  QuantizedBuckets out;
  out.words.resize(static_cast<std::size_t>(words_for(count, bits)), 0);
  for (std::int64_t begin = 0; begin < count; begin += kBucket) {
    const auto first = static_cast<std::size_t>(begin);
    const auto size = static_cast<std::size_t>(std::min(kBucket, count - begin));
    float scale = 0;
    for (const float value : values.subspan(first, size)) {
      assert(std::isfinite(value) && "the scale must be finite");
      scale = std::max(scale, std::abs(value));
    }
    out.scales.push_back(scale);
    // A bucket of zeros keeps the codes 0 that the words start with: there is nothing to divide by.
    for (std::size_t i = first; scale > 0 && i < first + size; ++i) {
      const auto code = static_cast<std::int32_t>(std::lrint(values[i] / scale * levels_of(bits)));
      const auto position = static_cast<int>(i % static_cast<std::size_t>(in_word));
      out.words[i / static_cast<std::size_t>(in_word)] |= code_field(code, bits, position);
    }
  }
  return out;
}

std::vector<float> dequantize_buckets(const QuantizedBuckets& buckets, std::size_t count,
                                      int bits) {
  const auto in_word = static_cast<std::size_t>(kWordBits / bits);
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int32_t code =
        code_in(buckets.words[i / in_word], bits, static_cast<int>(i % in_word));
    values[i] = dequantized(code, buckets.scales[i / kBucket], bits);
  }
  return values;
}

} // namespace stepsim::calibrate::gpu
