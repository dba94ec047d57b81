#pragma once
// The loop of a sweep: threads take chunks of points, and one thread writes them in order.
#include <cstdint>

#include "sweep/column_file.hpp"
#include "sweep/record_columns.hpp"
#include "sweep/sweep.hpp"
#include "sweep/sweep_output.hpp"
#include "sweep/sweep_records.hpp"

namespace stepsim::study {

// Where records go: as text through the first two, in binary through the other two.
struct SweepSink {
  const Records* records = nullptr;
  SweepOutput* output = nullptr;
  const RecordColumns* columns = nullptr;
  ColumnFile* file = nullptr;
};

// Runs the points of the shard from index `first` on. Sets `interrupted`, and adds to the other
// members of `report` but `points` and `resumed`. Throws SimulationError where the output cannot be
// written.
void run_points(const Sweep& sweep, Files& files, const SweepOptions& options,
                const SweepSink& sink, std::int64_t first, SweepReport& report);

} // namespace stepsim::study
