#pragma once
// How measurements are taken, without the clock (CAL 6): sizes, order, and when a block has enough
// samples. A block is one thing to time (algorithm, size, way of launching); all blocks are visited
// in three passes, each in its own random order, so that drift is not mistaken for size.
#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::calibrate {

inline constexpr int kPasses = 3;
inline constexpr double kLeastSampleSeconds = 1e-3; // of all calls of a sample, see repeats_for
inline constexpr double kLeastLoadSeconds = 0.1;    // before the first sample: clocks ramp up
inline constexpr int kWarmUps = 10; // calls that are not timed, before the first sample of a block
inline constexpr std::size_t kSamplesPerPass = 7; // 21 in all
inline constexpr std::size_t kMostSamplesPerPass = 30;
inline constexpr double kGoodHalfWidth = 0.02; // of the interval of the median, relative
inline constexpr double kSteadyPass = 0.05;    // passes that differ more are reported

// Ascending sizes in bytes: 0; from 4 to `most` by a factor of 2 (dense: sqrt 2), each moved by up
// to 5 % and rounded to a multiple of 4; and, for several ranks, 256 KiB x ranks + 4 if `most`
// allows it, a number of fp32 elements that `ranks` does not divide. Needs most >= 4 (asserted).
[[nodiscard]] std::vector<std::int64_t> collective_sizes(std::int64_t most, std::uint32_t ranks,
                                                         bool dense, std::uint64_t seed);
// 2^16, 2^18 .. 2^28 elements (dense: every power), not above `most`.
[[nodiscard]] std::vector<std::int64_t> kernel_sizes(std::int64_t most, bool dense);

// A permutation of 0 .. blocks-1, another one for each pass.
[[nodiscard]] std::vector<std::size_t> visit_order(std::size_t blocks, int pass,
                                                   std::uint64_t seed);

// Calls per sample, so that the sample lasts a millisecond; at least 1 and at most 2000, so that
// samples of very short calls last less.
[[nodiscard]] int repeats_for(double seconds_per_call);

// Half the width of the 95 % interval of the median by order statistics, relative to the median;
// infinite with fewer than 6 values.
[[nodiscard]] double median_half_width(std::span<const double> values);

// Whether `pass` of a block has enough samples: kSamplesPerPass; in the last pass also until the
// half-width of the median of all samples is below kGoodHalfWidth, at most kMostSamplesPerPass.
[[nodiscard]] bool enough(int pass, std::size_t samples_of_pass, std::span<const double> all);

// Largest relative difference between the median of a pass and that of the others; 0 for less than
// two passes.
[[nodiscard]] double pass_difference(std::span<const std::vector<double>> passes);

} // namespace stepsim::calibrate
