#pragma once
// Sizes of messages cut into pieces at which a curve is bounded by a line: four pieces between two
// powers of two, found by the leading bits of the size. Bytes.
#include <bit>
#include <cstdint>

namespace stepsim::buckets {

struct SizePieces {
  // The number of the piece of a positive size; pieces ascend with the size.
  static std::uint64_t of(double bytes) { return std::bit_cast<std::uint64_t>(bytes) >> kShift; }
  static double begin(std::uint64_t piece) { return std::bit_cast<double>(piece << kShift); }

private:
  static constexpr int kShift = 50; // leaves the exponent and two bits of the mantissa
};

} // namespace stepsim::buckets
