#pragma once
// All collectives predicted and measured (CAL 8, 11): the rows of an error table.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "calibrate/core/error_table.hpp"
#include "calibrate/mpi/library_collectives.hpp"
#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

struct LateRank { // begins every collective `seconds` after the others
  std::uint32_t rank{};
  double seconds{};
};

struct TableOptions {
  MessageOptions messages;
  std::int64_t most_bytes = 8 << 20;
  bool dense = false;       // sizes by a factor of sqrt 2 instead of 2
  double max_seconds = 0;   // of all measurements
  double most_probed = 0;   // bytes of the largest message that the predictor knows
  io::Json rate, transport; // as they are written into every row
  std::optional<LateRank> late{};
  // Called after each measurement with what makes the rows so far; may differ between ranks.
  std::function<void(const std::function<std::vector<ErrorRow>()>&)> progress{};
};

struct TableRun {
  std::vector<ErrorRow> rows; // by kind and size
  std::size_t cases{};        // rows that a longer time would have given
  std::vector<std::string> warnings;
};
// All ranks take part and get the same. Cases that the time does not allow have no row, nor have
// kinds that are not simulated where the predictor has a fabric. `link` says whether rows are
// host_bound.
[[nodiscard]] TableRun run_table(const Predictor& predictor, const LinkEstimate& link,
                                 const Crowding& crowd, const TableOptions& options, Wire& wire,
                                 Watchdog& watchdog);

// A library's messages go out as a whole, but for the blocks of its pipeline (`lp`).
struct LibraryPredictor {
  Predictor segmented, whole;
};
// Rows of the library's own collectives, where `assumed` says which algorithm it was told to use;
// their algorithm is called library_ring. A library does not wait for replies.
inline constexpr std::string_view kLibraryPrefix = "library_";
[[nodiscard]] std::vector<ErrorRow> library_rows(const LibraryRun& library,
                                                 std::span<const Kind> assumed,
                                                 const LibraryPredictor& predictor,
                                                 const LinkEstimate& link, const Crowding& crowd,
                                                 const TableOptions& options, std::uint32_t ranks);

} // namespace stepsim::calibrate::mpi
