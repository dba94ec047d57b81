#pragma once
// Finds where the plain part of a JSON string ends, eight bytes at a time.
#include <bit>
#include <cstdint>
#include <cstring>

namespace stepsim::io {

// The first byte from `at` on that is not a plain part of a text: a quote, a backslash, a control
// character or a byte beyond ASCII. Eight bytes are looked at together.
//     aten::conv2d", "pid": 42
//                 ^
[[nodiscard]] inline const char* plain_end(const char* at) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes << 7U;
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHigh; };
  while (std::endian::native == std::endian::little) {
    std::uint64_t word{};
    std::memcpy(&word, at, sizeof word);
    // The high bit of every byte that is not plain. A byte behind such a one may be marked wrongly;
    // the first mark is right.
    const std::uint64_t marks = zeros(word ^ (kOnes * '"')) | zeros(word ^ (kOnes * '\\')) |
                                ((word - kOnes * 0x20) & ~word & kHigh) | (word & kHigh);
    if (marks != 0) {
      return at + std::countr_zero(marks) / 8;
    }
    at += sizeof word;
  }
  while (*at != '"' && *at != '\\' && static_cast<signed char>(*at) >= 0x20) {
    ++at;
  }
  return at;
}

} // namespace stepsim::io
