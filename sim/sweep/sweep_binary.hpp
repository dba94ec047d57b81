#pragma once
// Runs a sweep with binary output; run_sweep() uses it for RecordFormat::npz.
#include <string_view>

#include "sweep/sweep.hpp"
#include "json/file_write.hpp"

namespace stepsim::study {

// Throws UsageError for a sweep of collectives, and if the output is not a regular file. Called
// before any point is run.
void require_binary(const Sweep& sweep, const std::string& output);

// Runs the sweep. `header` is the header record without its line end. `file` must be open and used
// by this process only. The caller sets report.points; this function sets all other members.
void run_binary(const Sweep& sweep, Files& files, const SweepOptions& options,
                std::string_view header, io::OutputFile& file, SweepReport& report);

} // namespace stepsim::study
