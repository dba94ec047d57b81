#pragma once
// Predicts and measures every collective (CAL 8, 11) and makes the rows of an error table.

#include "calibrate/core/error_table.hpp"
#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

// Measures the collectives of the MPI library itself: MPI_Allreduce, MPI_Bcast, MPI_Reduce,
// MPI_Allgather and MPI_Reduce_scatter on fp32 vectors. The library chooses the algorithm; the
// result is a curve for scenarios with the collective `calibrated`. The algorithms of
// process_program.hpp, in contrast, are known.

struct LibraryRun {
  std::vector<LibrarySamples> operations; // operations with two sizes or more
  std::vector<std::string> warnings;      // blocks whose passes differ
};

// Measures all operations. Every rank must call this; all ranks get the same result. Sizes run from
// 4 bytes to `most_bytes` by factors of 2, or of sqrt 2 if `dense` (collective_sizes). The size of
// an all-gather or a reduce-scatter is the size of the whole buffer, rounded down so that all ranks
// have equally many elements. Ends about `max_seconds` after the start at the latest; sizes without
// a sample by then are left out.
[[nodiscard]] LibraryRun run_library(std::int64_t most_bytes, bool dense, double max_seconds,
                                     Wire& wire, Watchdog& watchdog);

// Parses "allreduce=ring,broadcast=mst": the algorithms that the library was told to use, so that
// its times can be predicted; none for "". Throws UsageError for a pair that is not one of the
// dense kinds().
[[nodiscard]] std::vector<Kind> parse_assumed(const std::string& text);

struct LateRank { // this rank begins every collective `seconds` after all other ranks
  std::uint32_t rank{};
  double seconds{};
};

struct TableOptions {
  MessageOptions messages;
  std::int64_t most_bytes = 8 << 20;
  bool dense = false;     // sizes by a factor of sqrt 2 instead of 2
  double max_seconds = 0; // time limit of all measurements together, s; 0 measures nothing
  // Bytes of the largest probed message. Rows with more bytes are flagged "extrapolated"; with 0,
  // all rows are.
  double most_probed = 0;
  io::Json rate, transport; // copied into ErrorRow::rate and ErrorRow::transport of every row
  std::optional<LateRank> late{};
  // Called after each measurement with a function that returns the rows measured so far. Ranks may
  // have different functions, or none.
  std::function<void(const std::function<std::vector<ErrorRow>()>&)> progress{};
};

// What is known of all rows.
struct Conditions {
  const LinkEstimate& link;
  const Crowding& crowd;
  const TableOptions& options;
  std::uint32_t ranks;
};

struct TableRun {
  std::vector<ErrorRow> rows; // sorted by kind, then by size
  std::size_t cases{};        // number of rows that there would be without a time limit
  std::vector<std::string> warnings;
};
// All ranks must call this and get the same result. A kind and size has no row if time was up
// before it was measured. If the predictor has a fabric, kinds for which simulated() is false are
// left out. Rows are flagged host_bound if link.host_bound(), and start_up_bound if `crowd` has
// more processes than cores and the predicted time is shorter than 20 alpha.
[[nodiscard]] TableRun run_table(const Predictor& predictor, const Conditions& now, Wire& wire,
                                 Watchdog& watchdog);

// `segmented` predicts `lp` (linear pipeline), whose blocks are messages of their own. `whole`
// predicts all other algorithms, because an MPI library sends each message as a whole.
struct LibraryPredictor {
  Predictor segmented, whole;
};
// Predicted and measured times of the collectives of the MPI library, for the operations for which
// `assumed` has the algorithm that the library was told to use. The rows name the algorithm with
// the prefix: library_ring. Predictions are without replies, because a library does not wait for
// them.
inline constexpr std::string_view kLibraryPrefix = "library_";
[[nodiscard]] std::vector<ErrorRow> library_rows(const LibraryRun& library,
                                                 std::span<const Kind> assumed,
                                                 const LibraryPredictor& predictor,
                                                 const Conditions& now);

} // namespace stepsim::calibrate::mpi
