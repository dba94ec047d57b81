#pragma once
// A sweep into a binary file: what `run_sweep` does for RecordFormat::npz.
#include <string_view>

#include "sweep/sweep.hpp"
#include "json/file_write.hpp"

namespace stepsim::study {

// Throws UsageError for a sweep of collectives and for an output that is no regular file. Called
// before any work.
void require_binary(const Sweep& sweep, const std::string& output);

// `header`: the header record without its line end. The file is open and this process's own; sets
// all of `report` but `points`, which is set already.
void run_binary(const Sweep& sweep, Files& files, const SweepOptions& options,
                std::string_view header, io::OutputFile& file, SweepReport& report);

} // namespace stepsim::study
