#pragma once
// Counter-based random numbers of the simulation. A random number is a hash of its purpose (seed,
// stream, worker, iteration, ...) and not of earlier numbers, so results depend neither on the
// order of events nor on the platform, the thread or the algorithm (PKT 3.6). All sums are mod
// 2^64.
//
//   hash(a1, .., aj): h = 0; for every a: h = mix(h ^ a)        mix = one step of splitmix64
//   u01 = (hash >> 11) 2^-53, in [0, 1)
//
// The stream is the second argument, after the seed: 1 ECMP, 2 spray, 3 start jitter, 4 magnitude
// class, 5 link loss, 6 background, 7 permutations of hosts, 16 compute time, 17 exchange time, 18
// data of small problems, 19 replications, 20 mini-batches of small problems, 21 resampled passes
// of measurements, 22 resampled steps of traces. The file that uses a stream defines its constant
// (kEcmpStream in links/fabric/routes.cpp); a new stream takes a number that is not listed here.
#include <cstdint>
#include <initializer_list>

namespace stepsim::base {

[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

template <class... Words> [[nodiscard]] constexpr std::uint64_t hash(Words... words) {
  std::uint64_t h = 0;
  ((h = mix(h ^ static_cast<std::uint64_t>(words))), ...);
  return h;
}

// Returns an index below m: the high 64 bits of the 128-bit product h m.
[[nodiscard]] constexpr std::uint64_t pick(std::uint64_t h, std::uint64_t m) {
  const std::uint64_t low = 0xffffffffULL;
  const std::uint64_t carry = ((h & low) * (m & low)) >> 32;
  const std::uint64_t middle = (h >> 32) * (m & low) + carry;
  const std::uint64_t other = (h & low) * (m >> 32) + (middle & low);
  return (h >> 32) * (m >> 32) + (middle >> 32) + (other >> 32);
}

[[nodiscard]] constexpr double unit_interval(std::uint64_t h) {
  return static_cast<double>(h >> 11) * 0x1.0p-53;
}

template <class... Words> [[nodiscard]] constexpr double u01(Words... words) {
  return unit_interval(hash(words...));
}

// Counter-based random numbers for test data, and for the order in which calibration and sweeps
// draw samples. What has a numbered stream uses random.hpp. A value depends only on (seed,
// point, worker, step, purpose) and not on the order of calls, so that results are equal for any
// number of threads and shards. The hash combines the five parts of the key one after the other,
// each through the finaliser of splitmix64.

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
