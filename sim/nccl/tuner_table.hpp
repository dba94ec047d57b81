#pragma once
// A table for NCCL's example tuner plug-in (CLU 12): for ranges of bytes, the pair of algorithm and
// protocol that is fastest by the calibrated model or by measurement.
//
//   sizes of a grid     8        16   ...   1 MiB       2 MiB   ...
//   fastest pair        ring/ll  ring/ll    ring/ll128  ring/ll128
//   lines              [0 ............ m]  [m + 1 .............. last_byte]
//
// m is the geometric mean, rounded down, of the two sizes of the grid between which the pair
// changes. The lines of an operation leave no gap and do not overlap.

#include "nccl/candidates.hpp"

namespace stepsim::nccl {

// The result for one size of the grid.
struct TunerSize {
  double bytes{}; // > 0, as in library_words.hpp
  Pair pair;      // entered in the table
  // Time of the published choice / time of `pair` - 1; 0 if both are the same pair, empty if the
  // published choice was not measured.
  std::optional<double> gain;
  bool differs = false; // whether `pair` is not the published choice
};

struct TunerLine {
  Operation operation{};
  std::uint64_t first_byte{}; // first and last byte are included
  std::uint64_t last_byte{};
  Pair pair;
  std::optional<double> gain{}; // mean over the sizes in the line that have a gain
  bool differs = false;         // whether `pair` is not the published choice for one of these sizes
};

// The largest size that a 32-bit reader accepts, and the default end of the last line.
inline constexpr std::uint64_t kTunerLastByte = 4294967295;

// The operations that the plug-in knows: all but alltoall.
inline constexpr std::array kTunerOperations{Operation::broadcast, Operation::reduce,
                                             Operation::allreduce, Operation::reduce_scatter,
                                             Operation::allgather};

// Returns the pair per size by the model: the cheapest pair by calibrated cost if its gain over the
// published choice is above 0 and at least `least_gain`, else the published choice. `sizes` must
// ascend. Throws UsageError if the restrictions of the model leave no pair.
[[nodiscard]] std::vector<TunerSize> tuner_sizes(const LibraryModel& model, const Layout& layout,
                                                 Operation operation, std::span<const double> sizes,
                                                 double least_gain);

// A measured time of a collective that was forced to run as `pair`.
struct ForcedTime {
  Operation operation{};
  double bytes{};
  Pair pair;
  double seconds{}; // > 0
};

// Returns the pair per measured size, ascending, by the same rule with measured times instead of
// calibrated costs. Where a pair was measured several times at a size, its least time is used. If
// the published choice was not measured at a size, the fastest measured pair is used, even if it is
// the only one. Empty if `times` has no time of the operation. Throws UsageError as choose_pair()
// does.
[[nodiscard]] std::vector<TunerSize> tuner_sizes(std::span<const ForcedTime> times,
                                                 const Layout& layout, Operation operation,
                                                 const Restrictions& restrictions,
                                                 double least_gain);

// Returns one line for every range of sizes with the same pair. The first line begins at 0 and the
// last ends at `last_byte`; larger sizes are left out. `sizes` must ascend.
[[nodiscard]] std::vector<TunerLine>
tuner_lines(Operation operation, std::span<const TunerSize> sizes, std::uint64_t last_byte);

// Returns the table as text, with `comment` (no line breaks) in its first line. Lines with the
// published choice are written, too, so that every size is covered.
[[nodiscard]] std::string tuner_text(std::span<const TunerLine> lines, Shape shape,
                                     std::string_view comment);

} // namespace stepsim::nccl
