#pragma once
// stepsim tune SCENARIO --emit ddp: the bucket sizes for PyTorch's DistributedDataParallel, with a
// Python snippet that applies them (TRN 8.3).
#include "cli/shell/app.hpp"
#include "scenario/files.hpp"
#include "sweep/rows.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// Writes the settings as JSON, and next to them (print_beside) a table of the step times with
// PyTorch's default, with one size and with a list of sizes. Throws as study::ddp_buckets, and
// UsageError for a format other than json.
int emit_ddp(const io::Json& scenario, study::Files& files, const study::RowsOptions& options,
             const Common& common);

} // namespace stepsim::cli
