#pragma once
// The main loop of a sweep: threads take chunks of points, and whoever finishes the next one in
// order writes it, with all finished chunks behind it. The calling thread waits, reports the
// progress and asks for interruptions.
#include <cstdint>

#include "study/sweep/sweep.hpp"
#include "study/sweep/sweep_output.hpp"
#include "study/sweep/sweep_records.hpp"

namespace stepsim::study {

// Runs the points of the shard from index `first` up to report.points, which the caller has set.
// Sets report.interrupted, leaves report.points and report.resumed unchanged, and adds to all other
// members of the report. Throws SimulationError if the output cannot be written.
void run_points(const Sweep& sweep, Files& files, const SweepOptions& options,
                const Records& records, SweepOutput& output, std::int64_t first,
                SweepReport& report);

} // namespace stepsim::study
