#pragma once
// A table for NCCL's example tuner plug-in (CLU 12): for ranges of bytes, the pair that the
// calibrated model, or a measurement, finds to be the fastest.
//
//   sizes of a grid     8        16   ...   1 MiB       2 MiB   ...
//   fastest pair        ring/ll  ring/ll    ring/ll128  ring/ll128
//   lines              [0 ............ m]  [m + 1 .............. last_byte]
//
// m is the geometric mean of the two sizes of the grid at which the pair changes, rounded down. The
// lines of an operation leave no gap and do not overlap.
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "library/pair_choice.hpp"

namespace stepsim::library {

// What one size of the grid says.
struct TunerSize {
  double bytes{}; // > 0, as in library_words.hpp
  Pair pair;      // of the table
  // Time of the published choice / time of `pair` - 1; 0 where they are the same, empty where the
  // published choice was not measured.
  std::optional<double> gain;
  bool differs = false; // from the published choice
};

struct TunerLine {
  Operation operation{};
  std::uint64_t first_byte{}; // both inclusive
  std::uint64_t last_byte{};
  Pair pair;
  std::optional<double> gain; // mean over its sizes that have one
  bool differs = false;       // from the published choice, at one of its sizes at least
};

// The largest size that a 32-bit reader takes, and the default of the last line's end.
inline constexpr std::uint64_t kTunerLastByte = 4294967295;

// The operations that the plug-in has a word for: all but alltoall.
inline constexpr std::array kTunerOperations{Operation::broadcast, Operation::reduce,
                                             Operation::allreduce, Operation::reduce_scatter,
                                             Operation::allgather};

// Of the model: the cheapest pair by calibrated cost, where it gains something and at least
// `least_gain` over the published choice, which is kept elsewhere. `sizes` ascend. Throws
// UsageError as choose_pair.
[[nodiscard]] std::vector<TunerSize> tuner_sizes(const LibraryModel& model, const Layout& layout,
                                                 Operation operation, std::span<const double> sizes,
                                                 double least_gain);

// One time of a collective that was forced to run as `pair`.
struct ForcedTime {
  Operation operation{};
  double bytes{};
  Pair pair;
  double seconds{}; // > 0
};

// Of measurements: at each size the pair with the least time, by the same rule. Sizes at which one
// pair alone was measured count too. Ascending sizes; empty where `times` has none of the
// operation. Throws UsageError as choose_pair.
[[nodiscard]] std::vector<TunerSize> tuner_sizes(std::span<const ForcedTime> times,
                                                 const Layout& layout, Operation operation,
                                                 const Restrictions& restrictions,
                                                 double least_gain);

// One line for each run of sizes with the same pair; the first begins at 0, the last ends at
// `last_byte`, and sizes above it are left out. `sizes` ascend.
[[nodiscard]] std::vector<TunerLine>
tuner_lines(Operation operation, std::span<const TunerSize> sizes, std::uint64_t last_byte);

// The table as text, with `comment` (no line breaks) as its first line. Lines that hold
// the published choice are written like the others, so that no size is left out.
[[nodiscard]] std::string tuner_text(std::span<const TunerLine> lines, Shape shape,
                                     std::string_view comment);

} // namespace stepsim::library
