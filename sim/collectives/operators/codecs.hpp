#pragma once
// Codecs that shrink every value on the wire, applied to real numbers (PIP 6). In the error bounds,
// u = 2^-24 is the rounding unit of float.
//
//   truncate16  keeps the upper 16 of the 32 bits: sign, exponent, 7 bits of the mantissa. Rounds
//               towards zero, |error| < 2^-7 |x| (subnormals: < 2^-133).
//   quantize8   stores code c in -127..127 for the value scale x c / 127, scale = largest |x| of
//               the part. Code -128 is unused, so that zero and both extremes are exact;
//               |error| <= scale (1/254 + 4u) (subnormals: 2^-149 more). Encoding a decoded part
//               again gives the same code.
//
// In a ring all-reduce the sum is decoded, added to and encoded again at each of the P-1 hops. All
// ranks decode the same encoded sum, so that replicas are bit-equal.
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace stepsim::collectives {

enum class Codec { none, truncate16, quantize8 };

struct Quantized8 {
  float scale{};
  std::vector<std::int8_t> codes;
  [[nodiscard]] bool operator==(const Quantized8&) const = default;
};

// Infinities stay infinities, and NaN stays NaN.
[[nodiscard]] std::vector<std::uint16_t> truncate16(std::span<const float> values);
[[nodiscard]] std::vector<float> untruncate16(std::span<const std::uint16_t> halves);
// Needs finite values (asserted). Rounds to nearest, ties to even.
[[nodiscard]] Quantized8 quantize8(std::span<const float> values);
[[nodiscard]] std::vector<float> dequantize8(const Quantized8& part);

using Encoded = std::variant<std::vector<float>, std::vector<std::uint16_t>, Quantized8>;
[[nodiscard]] Encoded encode(Codec codec, std::span<const float> values);
[[nodiscard]] std::vector<float> decode(const Encoded& part);

// Returns the sum of P vectors of equal length (asserted) as each rank holds it in the end, [rank].
// Part c of m elements has floor(m/P) + (c < m mod P). In reduce-scatter step s = 0..P-2, rank r
// sends part (r-1-s) mod P to r+1; in all-gather step s, part (r-s) mod P without encoding it
// again. The error is that of P encodings: for truncate16 at most ((1 + 2^-7)(1 + u))^P - 1 of sum
// |x|. For P = 1 nothing is sent or encoded.
[[nodiscard]] std::vector<std::vector<float>>
ring_allreduce(std::span<const std::vector<float>> ranks, Codec codec);

} // namespace stepsim::collectives
