#pragma once
// How measurements are taken, without the clock (CAL 6): sizes, order, and when a block has enough
// samples. A block is one thing to time (algorithm, size, way of launching); all blocks are visited
// in three passes, each in its own random order, so that drift is not mistaken for size.
#include <cstdint>
#include <span>
#include <vector>

namespace stepsim::calibrate {

inline constexpr int kPasses = 3;
inline constexpr double kLeastSampleSeconds = 1e-3;
inline constexpr double kLeastLoadSeconds = 0.1; // before the first sample: clocks ramp up
inline constexpr int kWarmUps = 10;
inline constexpr std::size_t kSamplesPerPass = 7; // 21 in all
inline constexpr std::size_t kMostSamplesPerPass = 30;
inline constexpr double kGoodHalfWidth = 0.02; // of the interval of the median, relative
inline constexpr double kSteadyPass = 0.05;    // passes that differ more are reported

// Multiples of 4 from 4 to `most`, factor 2 (dense: sqrt 2), each moved by up to 5 %; then 0 and
// one size not divisible by `ranks` elements. Ascending.
[[nodiscard]] std::vector<std::int64_t> collective_sizes(std::int64_t most, std::uint32_t ranks,
                                                         bool dense, std::uint64_t seed);
// 2^16, 2^18 .. 2^28 elements (dense: every power), not above `most`.
[[nodiscard]] std::vector<std::int64_t> kernel_sizes(std::int64_t most, bool dense);

// A permutation of 0 .. blocks-1, another one for each pass.
[[nodiscard]] std::vector<std::size_t> visit_order(std::size_t blocks, int pass,
                                                   std::uint64_t seed);

// Calls per sample, so that it lasts a millisecond.
[[nodiscard]] int repeats_for(double seconds_per_call);

// Half the width of the 95 % interval of the median by order statistics, relative to the median;
// infinite with fewer than 6 values.
[[nodiscard]] double median_half_width(std::span<const double> values);

// `pass` of a block has enough: kSamplesPerPass, in the last pass until the median of all samples
// is known well enough, at most kMostSamplesPerPass.
[[nodiscard]] bool enough(int pass, std::size_t samples_of_pass, std::span<const double> all);

// Largest relative difference between the median of a pass and that of the others; 0 for less than
// two passes.
[[nodiscard]] double pass_difference(std::span<const std::vector<double>> passes);

} // namespace stepsim::calibrate
