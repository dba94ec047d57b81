#pragma once
// Counter-based random numbers for test data, and for the order in which calibration and sweeps
// draw samples. What has a numbered stream uses counter_hash.hpp. A value depends only on (seed,
// point, worker, step, purpose) and not on the order of calls, so that results are equal for any
// number of threads and shards. The hash combines the five parts of the key one after the other,
// each through the finaliser of splitmix64.
#include <cstdint>
#include <initializer_list>

namespace stepsim::base {

// A bijection of 64-bit words in which every input bit changes about half of the output bits.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

struct RandomKey {
  std::uint64_t seed{};
  std::uint64_t point{};
  std::uint64_t worker{};
  std::uint64_t step{};
  std::uint64_t purpose{};
};

[[nodiscard]] constexpr std::uint64_t random_bits(const RandomKey& key) {
  constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
  std::uint64_t state = mix64(key.seed + kGolden);
  for (const std::uint64_t part : {key.point, key.worker, key.step, key.purpose}) {
    state = mix64(state + kGolden + mix64(part + kGolden));
  }
  return state;
}

// Random numbers in sequence, for tests and generators: consecutive steps of one key, the first at
// key.step + 1.
class RandomStream {
public:
  explicit constexpr RandomStream(RandomKey key) : key_(key) {}
  constexpr std::uint64_t bits() { return random_bits(key_ = next(key_)); }
  // A number in [0, 1) of 53 bits.
  constexpr double uniform() { return static_cast<double>(bits() >> 11) * 0x1.0p-53; }
  constexpr double uniform(double low, double high) { return low + (high - low) * uniform(); }
  // A uniform integer in [low, high]; the tiny modulo bias does not matter for its uses.
  constexpr std::int64_t integer(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
  }

private:
  static constexpr RandomKey next(RandomKey key) { return key.step++, key; }
  RandomKey key_;
};

} // namespace stepsim::base
