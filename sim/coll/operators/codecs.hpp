#pragma once
// Codecs that shrink every value on the wire, on real numbers (PIP 6). u, in the bounds, is the
// rounding unit of float, 2^-24.
//
//   truncate16  the upper 16 of the 32 bits: sign, exponent, 7 bits of the mantissa.
//               Towards zero, |error| < 2^-7 |x| (of subnormals: < 2^-133)
//   quantize8   code c in -127..127 for the value scale x c / 127, scale = largest |x| of the part:
//               zero and both extremes are exact, |error| <= scale (1/254 + 4u) (of subnormals
//               2^-149 more). One of the 256 codes of a byte stays unused for that. Coding a
//               decoded part again changes nothing.
//
// In a ring all-reduce the sum is decoded, added to and encoded again at each of the P-1 hops, and
// its owner's encoded part is what everybody decodes: replicas are bit-equal.
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

namespace stepsim::coll {

enum class Codec { none, truncate16, quantize8 };

struct Quantized8 {
  float scale{};
  std::vector<std::int8_t> codes;
  [[nodiscard]] bool operator==(const Quantized8&) const = default;
};

// Infinities and NaN keep their kind.
[[nodiscard]] std::vector<std::uint16_t> truncate16(std::span<const float> values);
[[nodiscard]] std::vector<float> untruncate16(std::span<const std::uint16_t> halves);
// Finite values (asserted). Rounds to nearest, ties to even.
[[nodiscard]] Quantized8 quantize8(std::span<const float> values);
[[nodiscard]] std::vector<float> dequantize8(const Quantized8& part);

using Encoded = std::variant<std::vector<float>, std::vector<std::uint16_t>, Quantized8>;
[[nodiscard]] Encoded encode(Codec codec, std::span<const float> values);
[[nodiscard]] std::vector<float> decode(const Encoded& part);

// The sum of P vectors of equal length (asserted) as each rank holds it in the end, [rank]. Part c
// of m elements has floor(m/P) + (c < m mod P). Reduce-scatter step s = 0..P-2: rank r sends part
// (r-1-s) mod P to r+1; then P-1 all-gather steps, (r-s) mod P, untouched. With error e <= bound of
// one encoding the result is off by P of them: at most ((1 + 2^-7)(1 + u))^P - 1 of sum |x| for
// truncate16. P = 1: nothing is sent, nothing encoded.
[[nodiscard]] std::vector<std::vector<float>>
ring_allreduce(std::span<const std::vector<float>> ranks, Codec codec);

} // namespace stepsim::coll
