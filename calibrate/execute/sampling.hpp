#pragma once
// Sampling rules of measurements (CAL 6): sizes, order, and when a block has enough samples. A
// block is one call to time (algorithm, size, way of launching). All blocks are measured in three
// passes, each in its own random order, so that drift is not mistaken for an effect of size.
#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace stepsim::calibrate {

inline constexpr int kPasses = 3;
// Duration of all calls of a sample; see repeats_for().
inline constexpr double kLeastSampleSeconds = 1e-3;
// Duration of the load before the first sample, in which the clocks of processors ramp up.
inline constexpr double kLeastLoadSeconds = 0.1;
inline constexpr int kWarmUps = 10; // calls that are not timed, before the first sample of a block
inline constexpr std::size_t kSamplesPerPass = 7; // 21 in three passes
inline constexpr std::size_t kMostSamplesPerPass = 30;
inline constexpr double kGoodHalfWidth = 0.02; // half-width of the interval of the median / median
// Larger relative differences between passes are reported.
inline constexpr double kSteadyPass = 0.05;

[[nodiscard]] inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}
// The time of the day of a measurement: "2026-01-31T12:00:00Z".
[[nodiscard]] std::string now_text();

// Ascending sizes in bytes: 0; then 4 to `most` by factors of 2 (dense: sqrt 2), each moved by up
// to 5 % and rounded to a multiple of 4; and, for several ranks, 256 KiB x ranks + 4 if at most
// `most`, a number of fp32 elements that `ranks` does not divide. Needs most >= 4 (asserted).
[[nodiscard]] std::vector<std::int64_t> collective_sizes(std::int64_t most, std::uint32_t ranks,
                                                         bool dense, std::uint64_t seed);
// 2^16, 2^18 .. 2^28 elements (dense: every power of 2), at most `most`.
[[nodiscard]] std::vector<std::int64_t> kernel_sizes(std::int64_t most, bool dense);

// A permutation of 0 .. blocks-1 that depends on pass and seed.
[[nodiscard]] std::vector<std::size_t> visit_order(std::size_t blocks, int pass,
                                                   std::uint64_t seed);

// The pairs a < b of `ranks` ranks, in their order; of more than `most` a random sample that
// depends on the seed.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>>
sampled_pairs(std::uint32_t ranks, std::size_t most, std::uint64_t seed);

// The number of calls per sample, 1 to 2000, for which a sample lasts at least a millisecond.
// Samples of very short calls last less, because of the limit of 2000.
[[nodiscard]] int repeats_for(double seconds_per_call);

// Half the width of the 95 % interval of the median (by order statistics) / median; infinite for
// fewer than 6 values.
[[nodiscard]] double median_half_width(std::span<const double> values);

using Passes = std::span<const std::vector<double>>; // [pass][sample] seconds

// The samples of all passes but one.
[[nodiscard]] std::vector<double> pooled(Passes passes, std::size_t without = kPasses);

// Whether a block has enough samples in `pass`. Every pass needs kSamplesPerPass. The last pass
// continues until median_half_width() of all passes is below kGoodHalfWidth, or until it has
// kMostSamplesPerPass samples.
[[nodiscard]] bool enough(std::size_t pass, Passes passes);

// Largest relative difference between the median of one pass and the median of all other passes; 0
// for fewer than two passes.
[[nodiscard]] double pass_difference(Passes passes);

} // namespace stepsim::calibrate
