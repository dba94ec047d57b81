#pragma once
// All collectives predicted and measured (CAL 8, 11): the rows of an error table.
#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/core/error_table.hpp"
#include "calibrate/mpi/link_estimate.hpp"
#include "calibrate/mpi/timed_blocks.hpp"

namespace stepsim::calibrate::mpi {

struct TableOptions {
  MessageOptions messages;
  std::int64_t most_bytes = 8 << 20;
  bool dense = false;       // sizes by a factor of sqrt 2 instead of 2
  double max_seconds = 0;   // of all measurements; every case has at least one sample
  double most_probed = 0;   // bytes of the largest message that the predictor knows
  io::Json rate, transport; // as they are written into every row
};

struct TableRun {
  std::vector<ErrorRow> rows; // by kind and size
  std::vector<std::string> warnings;
};
// All ranks take part and get the same.
[[nodiscard]] TableRun run_table(const Predictor& predictor, const LinkEstimate& link,
                                 const Crowding& crowd, const TableOptions& options, Wire& wire,
                                 Watchdog& watchdog);

} // namespace stepsim::calibrate::mpi
