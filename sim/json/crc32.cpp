// A message is a polynomial over GF(2), and its CRC the remainder modulo P. Sixteen bytes X that
// are followed by n more bits count as X x^n, and x^n may be replaced by its remainder:
//     X x^n = X_low (x^(n + 64) mod P) + X_high (x^n mod P)       (modulo P)
// so that a block is added to the block that follows it at the cost of two carry-less products.
// Four blocks side by side keep the multiplier busy. In the end 16 bytes have the CRC of all; zlib
// takes that and the bytes behind the last block. Gopal and others, "Fast CRC Computation for
// Generic Polynomials Using PCLMULQDQ Instruction", Intel, 2009.
#include "json/crc32.hpp"

#include <zlib.h>

#include <array>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#endif

namespace stepsim::io {

namespace {

std::uint32_t crc32_by_zlib(const char* bytes, std::size_t size, std::uint32_t crc) {
  return static_cast<std::uint32_t>(
      ::crc32_z(crc, reinterpret_cast<const unsigned char*>(bytes), size));
}

#if defined(__x86_64__) && defined(__GNUC__)

constexpr std::size_t kBlock = sizeof(__m128i);
constexpr std::size_t kBlocks = 4; // side by side

// x^(n + 32) and x^(n - 32) modulo P for the low and the high half of a block that n bits follow,
// with the bits reversed, as CRC-32 has them, and shifted by the one bit that reversed products
// lack.
struct Factors {
  long long low, high;
};
constexpr Factors kPastFour{0x154442bd4, 0x1c6e41596}; // n = 512
constexpr Factors kPastOne{0x1751997d0, 0x0ccaa009e};  // n = 128

__attribute__((target("pclmul,sse4.1"))) __m128i moved_on(__m128i block, __m128i factors) {
  return _mm_xor_si128(_mm_clmulepi64_si128(block, factors, 0x00),
                       _mm_clmulepi64_si128(block, factors, 0x11));
}

__attribute__((target("pclmul,sse4.1"))) __m128i block_at(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

// At least kBlocks blocks; a multiple of the size of a block.
__attribute__((target("pclmul,sse4.1"))) std::uint32_t
crc32_of_blocks(const char* bytes, std::size_t size, std::uint32_t crc) {
  const __m128i past_four = _mm_set_epi64x(kPastFour.high, kPastFour.low);
  const __m128i past_one = _mm_set_epi64x(kPastOne.high, kPastOne.low);
  const char* const end = bytes + size;
  // The register, which a CRC-32 inverts before and after, is added to the first four bytes.
  __m128i a = _mm_xor_si128(block_at(bytes), _mm_cvtsi32_si128(static_cast<int>(~crc)));
  __m128i b = block_at(bytes + kBlock);
  __m128i c = block_at(bytes + 2 * kBlock);
  __m128i d = block_at(bytes + 3 * kBlock);
  bytes += kBlocks * kBlock;
  for (; bytes + kBlocks * kBlock <= end; bytes += kBlocks * kBlock) {
    a = _mm_xor_si128(moved_on(a, past_four), block_at(bytes));
    b = _mm_xor_si128(moved_on(b, past_four), block_at(bytes + kBlock));
    c = _mm_xor_si128(moved_on(c, past_four), block_at(bytes + 2 * kBlock));
    d = _mm_xor_si128(moved_on(d, past_four), block_at(bytes + 3 * kBlock));
  }
  __m128i sum = _mm_xor_si128(moved_on(a, past_one), b);
  sum = _mm_xor_si128(moved_on(sum, past_one), c);
  sum = _mm_xor_si128(moved_on(sum, past_one), d);
  for (; bytes < end; bytes += kBlock) {
    sum = _mm_xor_si128(moved_on(sum, past_one), block_at(bytes));
  }
  std::array<char, kBlock> last{};
  _mm_storeu_si128(reinterpret_cast<__m128i*>(last.data()), sum);
  return crc32_by_zlib(last.data(), last.size(), ~std::uint32_t{0}); // from a register of 0
}

bool has_carryless_product() {
  static const bool has = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1");
  return has;
}

#endif

} // namespace

std::uint32_t crc32_of(std::string_view bytes, std::uint32_t crc) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (bytes.size() >= kBlocks * kBlock && has_carryless_product()) {
    const std::size_t whole = bytes.size() / kBlock * kBlock;
    crc = crc32_of_blocks(bytes.data(), whole, crc);
    bytes.remove_prefix(whole);
  }
#endif
  return crc32_by_zlib(bytes.data(), bytes.size(), crc);
}

} // namespace stepsim::io
