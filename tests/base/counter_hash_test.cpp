#include "base/random.hpp"

#include <doctest/doctest.h>

#include <array>

using namespace stepsim::base;

// Expected values: the check vectors of the specification of the hash (computed independently).

TEST_CASE("counter hash: mix and hash give the check vectors") {
  CHECK(mix(0) == 0xe220a8397b1dcdafULL);
  CHECK(mix(1) == 0x910a2dec89025cc1ULL);
  CHECK(hash(1, 2, 3) == 0xd0734750fde362b3ULL);
  CHECK(hash(1, 1, 0, 0, 4, 0) == 0x3977d2ad6a647460ULL);
}

TEST_CASE("counter hash: equal-cost paths of sixteen connections over four links") {
  constexpr std::array<std::uint64_t, 16> kIndex{0, 3, 3, 0, 3, 2, 3, 1, 0, 0, 2, 1, 3, 0, 2, 0};
  for (std::uint64_t i = 0; i < kIndex.size(); ++i) {
    CAPTURE(i);
    CHECK(pick(hash(1, 1, 0, i, 4 + i, i), 4) == kIndex[i]);
  }
}

TEST_CASE("counter hash: pick is the high half of a 128-bit product") {
  constexpr std::uint64_t kAll = ~0ULL;
  CHECK(pick(kAll, kAll) == kAll - 1); // (2^64 - 1)^2 = (2^64 - 2) 2^64 + 1
  CHECK(pick(kAll, 7) == 6);
  CHECK(pick(1ULL << 63, 7) == 3); // 7 / 2
  CHECK(pick(0, kAll) == 0);
  CHECK(pick((1ULL << 32) + 1, (1ULL << 32) + 1) == 1); // 2^64 + 2^33 + 1
}

TEST_CASE("counter hash: u01 gives the check vectors") {
  CHECK(u01(1, 3, 0) == 0.8323609501268625);
  CHECK(u01(1, 3, 1) == 0.40265100409281496);
  CHECK(u01(1, 3, 2) == 0.5595523851783101);
  CHECK(unit_interval(~0ULL) < 1); // 53 bits: 1 - 2^-53
}
