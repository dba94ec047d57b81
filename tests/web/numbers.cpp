// Numbers as text and read again, by the functions that the whole program uses: compiled natively
// and with the page's compiler, both must print the same.
//
//     numbers COUNT SEED [all]     one hash per 1,000 numbers; with `all` every text
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <string>

#include "base/quantity.hpp"

namespace {

// SplitMix64 (Steele, Lea, Flood 2014).
struct Draws {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  int below(int count) { return static_cast<int>(next() % static_cast<std::uint64_t>(count)); }
};

double of_bits(std::uint64_t bits) {
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

// Every kind of number that is printed somewhere: any bits, whole numbers, few decimal digits,
// powers, and neighbours of round numbers.
double number(Draws& draws) {
  const double whole = static_cast<double>(draws.next() >> (11U + draws.next() % 50U));
  switch (draws.below(6)) {
  case 0:
    return of_bits(draws.next());
  case 1:
    return whole;
  case 2:
    return static_cast<double>(draws.below(100000)) /
           std::array{1., 10., 1e3, 1e6, 1e9, 1e12}[draws.next() % 6];
  case 3:
    return std::ldexp(1, draws.below(2098) - 1074);
  case 4: {
    std::uint64_t bits = 0;
    const double round =
        std::strtod(("1e" + std::to_string(draws.below(600) - 300)).c_str(), nullptr);
    std::memcpy(&bits, &round, sizeof bits);
    return of_bits(bits + draws.next() % 3 - 1);
  }
  default:
    return whole / 9007199254740992. * (draws.below(2) == 0 ? 1 : -1e-3);
  }
}

std::string texts_of(double value) {
  using stepsim::base::rounded_to;
  using stepsim::base::shortest;
  using stepsim::base::significant;
  if (!std::isfinite(value)) {
    return significant(value);
  }
  std::string line = shortest(value);
  double read = 0;
  const auto end = std::from_chars(line.data(), line.data() + line.size(), read);
  if (end.ec != std::errc{} || end.ptr != line.data() + line.size() || read != value) {
    line += " READ AS " + shortest(read);
  }
  for (const int digits : {1, 4, 17}) {
    line += " " + significant(value, digits) + " " + shortest(rounded_to(value, digits));
  }
  return line;
}

} // namespace

int main(int count, char** words) {
  if (count < 3) {
    return 2;
  }
  const long numbers = std::atol(words[1]);
  Draws draws{static_cast<std::uint64_t>(std::atol(words[2]))};
  std::uint64_t hash = 0xcbf29ce484222325U; // FNV-1a
  for (long n = 1; n <= numbers; ++n) {
    const std::string line = texts_of(number(draws));
    if (count > 3) {
      std::printf("%s\n", line.c_str());
    }
    for (const char each : line) {
      hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3U;
    }
    if (n % 1000 == 0 || n == numbers) {
      std::printf("%ld %016llx\n", n, static_cast<unsigned long long>(hash));
    }
  }
  return 0;
}
