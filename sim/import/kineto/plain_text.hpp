#pragma once
// Runs of bytes in a JSON text: the plain part, ASCII characters up to a quote, a backslash, a
// control character or a byte beyond ASCII; and decimal digits. Several bytes are looked at
// together: 16 on x86-64, elsewhere eight. The text must be followed by kTextPadding zero bytes,
// which end every run, so that nothing here asks where the text ends.
//     aten::conv2d", "pid": 42
//                 ^ end of the plain part
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stepsim::io {

inline constexpr std::size_t kTextPadding = 16;

namespace bytes {
inline constexpr std::uint64_t kOnes = 0x0101010101010101;
inline constexpr bool kLittle = std::endian::native == std::endian::little;

[[nodiscard]] inline std::uint64_t load(const char* at) {
  std::uint64_t word{};
  std::memcpy(&word, at, sizeof word);
  return word;
}
} // namespace bytes

// What JSON allows between its parts.
[[nodiscard]] constexpr bool is_blank(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

[[nodiscard]] inline const char* behind_blanks(const char* at) {
  while (is_blank(*at)) {
    ++at;
  }
  return at;
}

// The first byte from `at` on that is not plain.
[[nodiscard]] inline const char* plain_end_portable(const char* at) {
  using bytes::kOnes;
  constexpr std::uint64_t kHigh = kOnes << 7U;
  const auto zeros = [](std::uint64_t word) { return (word - kOnes) & ~word & kHigh; };
  while (bytes::kLittle) {
    const std::uint64_t word = bytes::load(at);
    // The high bit of every byte that is not plain. A byte behind such a one may be marked wrongly;
    // the first mark is right.
    const std::uint64_t marks = zeros(word ^ (kOnes * '"')) | zeros(word ^ (kOnes * '\\')) |
                                ((word - kOnes * 0x20) & ~word & kHigh) | (word & kHigh);
    if (marks != 0) {
      return at + std::countr_zero(marks) / 8;
    }
    at += 8;
  }
  while (*at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20 &&
         static_cast<unsigned char>(*at) < 0x80) {
    ++at;
  }
  return at;
}

#ifdef __SSE2__
// The same with the instructions that every x86-64 processor has.
[[nodiscard]] inline const char* plain_end_sse2(const char* at) {
  while (true) {
    const __m128i word = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i stops =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(word, _mm_set1_epi8('"')),
                                  _mm_cmpeq_epi8(word, _mm_set1_epi8('\\'))),
                     // Bytes are signed here: those beyond ASCII are below a blank as well.
                     _mm_cmplt_epi8(word, _mm_set1_epi8(' ')));
    if (const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops)); mask != 0) {
      return at + std::countr_zero(mask);
    }
    at += 16;
  }
}
#endif

[[nodiscard]] inline const char* plain_end(const char* at) {
#ifdef __SSE2__
  return plain_end_sse2(at);
#else
  return plain_end_portable(at);
#endif
}

struct DigitRun {
  std::uint64_t value{}; // modulo 2^64
  const char* end{};     // `at` itself: there is no digit
};

// The number that the digits from `at` on are.
[[nodiscard]] inline DigitRun digit_run(const char* at) {
  using bytes::kOnes;
  std::uint64_t value = 0;
  while (bytes::kLittle) {
    std::uint64_t word = bytes::load(at);
    // Digits are 0x30 to 0x39: their upper halves are 3, and stay so with 6 added.
    if ((word & (word + kOnes * 6) & (kOnes * 0xF0)) != kOnes * 0x30) {
      break;
    }
    // Pairs of digits become two-digit numbers, pairs of these four-digit numbers, and the last
    // pair one number of eight digits.
    word = (word & (kOnes * 0x0F)) * 2561 >> 8U;
    word = (word & 0x00FF00FF00FF00FF) * 6553601 >> 16U;
    word = (word & 0x0000FFFF0000FFFF) * 42949672960001 >> 32U;
    value = value * 100'000'000 + word;
    at += 8;
  }
  for (; *at >= '0' && *at <= '9'; ++at) {
    value = value * 10 + static_cast<std::uint64_t>(*at - '0');
  }
  return {value, at};
}

} // namespace stepsim::io
