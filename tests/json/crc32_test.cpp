#include "json/crc32.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/random.hpp"

using namespace stepsim;

namespace {

// Bit by bit, as the standard defines it.
std::uint32_t crc32_of_bits(std::string_view bytes, std::uint32_t crc) {
  std::uint32_t state = ~crc;
  for (const char each : bytes) {
    state ^= static_cast<unsigned char>(each);
    for (int bit = 0; bit < 8; ++bit) {
      state = state >> 1 ^ ((state & 1) != 0 ? 0xEDB88320 : 0);
    }
  }
  return ~state;
}

} // namespace

TEST_CASE("crc32: the check value of the standard") {
  CHECK(io::crc32_of("123456789") == 0xCBF43926);
  CHECK(io::crc32_of("") == 0);
}

TEST_CASE("crc32: any length, place and start give what the definition gives bit by bit") {
  base::RandomStream random({.seed = 3});
  std::string bytes(1200, '\0');
  for (char& each : bytes) {
    each = static_cast<char>(random.integer(0, 255));
  }
  for (std::size_t size = 0; size < 400; ++size) {
    CAPTURE(size);
    const auto begin = static_cast<std::size_t>(random.integer(0, 20));
    const auto start = static_cast<std::uint32_t>(random.bits());
    const std::string_view part = std::string_view(bytes).substr(begin, size);
    REQUIRE(io::crc32_of(part, start) == crc32_of_bits(part, start));
  }
  CHECK(io::crc32_of(bytes) == crc32_of_bits(bytes, 0));
}

TEST_CASE("crc32: pieces one after the other give the CRC of the whole") {
  base::RandomStream random({.seed = 4});
  const std::string bytes(5000, 'x');
  std::uint32_t crc = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    const auto size = static_cast<std::size_t>(random.integer(1, 300));
    crc = io::crc32_of(std::string_view(bytes).substr(at, size), crc);
    at += size;
  }
  CHECK(crc == io::crc32_of(bytes));
}
