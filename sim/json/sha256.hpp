#pragma once
// SHA-256 (FIPS 180-4) of a stream of bytes; names the input files in `source`.
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace stepsim::io {

class Sha256 {
public:
  void update(std::string_view bytes);
  // 64 hex digits of everything so far; more may follow.
  [[nodiscard]] std::string hex() const;

private:
  void block(const unsigned char* bytes);

  std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> buffer_{};
  std::uint64_t size_{}; // bytes so far; the last size_ % 64 wait in buffer_
};

// The digest of one text, 64 hex digits.
[[nodiscard]] std::string sha256(std::string_view bytes);

} // namespace stepsim::io
