#pragma once
// The plain part of a JSON text: ASCII characters up to a quote, a backslash, a control character
// or a byte beyond ASCII. On x86-64 sixteen bytes are looked at together, elsewhere eight.
//     aten::conv2d", "pid": 42
//                 ^ end of the plain part
#include <bit>
#include <cstdint>
#include <cstring>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace stepsim::io {

// The first byte of [at, end) that is not plain; `end` if all are.
[[nodiscard]] inline const char* plain_end_portable(const char* at, const char* end) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHigh = kOnes << 7U;
  const auto zeros = [](std::uint64_t bytes) { return (bytes - kOnes) & ~bytes & kHigh; };
  while (end - at >= 8) {
    std::uint64_t word{};
    std::memcpy(&word, at, sizeof word);
    // The high bit of every byte that is not plain. A byte behind such a one may be marked wrongly;
    // the first mark is right.
    const std::uint64_t marks = zeros(word ^ (kOnes * '"')) | zeros(word ^ (kOnes * '\\')) |
                                ((word - kOnes * 0x20) & ~word & kHigh) | (word & kHigh);
    if (marks != 0) {
      if constexpr (std::endian::native == std::endian::little) {
        return at + std::countr_zero(marks) / 8;
      }
      break;
    }
    at += 8;
  }
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20 &&
         static_cast<unsigned char>(*at) < 0x80) {
    ++at;
  }
  return at;
}

#ifdef __SSE2__
// The same with the instructions that every x86-64 processor has.
[[nodiscard]] inline const char* plain_end_sse2(const char* at, const char* end) {
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    const __m128i stops =
        _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                  _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
                     // Bytes are signed here: those beyond ASCII are below a blank as well.
                     _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')));
    if (const auto mask = static_cast<unsigned>(_mm_movemask_epi8(stops)); mask != 0) {
      return at + std::countr_zero(mask);
    }
    at += 16;
  }
  return plain_end_portable(at, end);
}
#endif

[[nodiscard]] inline const char* plain_end(const char* at, const char* end) {
#ifdef __SSE2__
  return plain_end_sse2(at, end);
#else
  return plain_end_portable(at, end);
#endif
}

} // namespace stepsim::io
