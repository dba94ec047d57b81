#pragma once
// Arithmetic of the codecs, shared by host and device (PIP 6; SPA 8.3, 11).
//
//   upper half   the upper 16 bits of a float: sign, exponent and 7 bits of the mantissa, which is
//                the type bfloat16
//   code         an integer c of b bits in -L..L, L = 2^(b-1) - 1, for the value c / L * scale;
//                values are rounded to the nearest code, ties to even. Codes are packed into 32-bit
//                words from the lowest bits up: codes of 8 bits are the bytes of std::int8_t
//   vote         the sign that most lists have at a position, 1 or -1; 0 for a tie
//
// A bucket is kBucket values that share one scale, their largest magnitude.
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace stepsim::calibrate::gpu {

// Truncates a float to its upper 16 bits. A NaN first gets its quiet bit set, because a NaN with
// set bits in the lower half only would become an infinity.
[[nodiscard]] constexpr std::uint16_t upper_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7fff'ffffU) > 0x7f80'0000U;
  return static_cast<std::uint16_t>((nan ? bits | 0x0040'0000U : bits) >> 16);
}
[[nodiscard]] constexpr float from_upper_half(std::uint16_t half) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

// The bfloat16 next to a float that is not NaN, ties to even; infinity beyond the largest.
[[nodiscard]] constexpr std::uint16_t nearest_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

// The compression method whose costs are measured with this codec.
inline constexpr std::string_view kBucketCodec = "qsgd";
inline constexpr std::int64_t kBucket = 512; // values
inline constexpr int kWordBits = 32;

// L of a code of `bits` bits: 7 for 4 bits, 127 for 8 bits. The code -L-1 is not used, so that the
// codes are symmetric around 0.
[[nodiscard]] constexpr float levels_of(int bits) {
  return static_cast<float>((1 << (bits - 1)) - 1);
}
[[nodiscard]] constexpr float dequantized(std::int32_t code, float scale, int bits) {
  return static_cast<float>(code) / levels_of(bits) * scale;
}

// The bits of a code at its position in a word: the 4-bit code -3 at position 1 gives 0xd0.
[[nodiscard]] constexpr std::uint32_t code_field(std::int32_t code, int bits, int position) {
  const std::uint32_t mask = (1U << bits) - 1;
  return (static_cast<std::uint32_t>(code) & mask) << (bits * position);
}
// The code at a position of a word. The code is shifted to the top first, so that the arithmetic
// shift down extends its sign.
[[nodiscard]] constexpr std::int32_t code_in(std::uint32_t word, int bits, int position) {
  const std::uint32_t top = word << (kWordBits - bits * (position + 1));
  return static_cast<std::int32_t>(top) >> (kWordBits - bits);
}
[[nodiscard]] constexpr std::int64_t words_for(std::int64_t values, int bits) {
  const std::int64_t in_word = kWordBits / bits;
  return (values + in_word - 1) / in_word;
}
[[nodiscard]] constexpr std::int64_t buckets_for(std::int64_t values) {
  return (values + kBucket - 1) / kBucket;
}

[[nodiscard]] constexpr float vote(int negatives, int lists) {
  const int balance = lists - 2 * negatives;
  return balance > 0 ? 1.0F : balance < 0 ? -1.0F : 0.0F;
}

// Host reference of the bucket codec (SPA 11): quantizes values to b bits, with one scale per
// bucket of kBucket values (codec_math.hpp). The kernels must give the same bits. Values are
// rounded to the nearest level instead of randomly, so that there is one right answer. The error of
// a value is at most scale (1/(2L) + 4u), with L = 2^(b-1) - 1 and u = 2^-24; 0, scale and -scale
// are restored exactly. Codes of 8 bits equal collectives::quantize8 applied to each bucket.

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
