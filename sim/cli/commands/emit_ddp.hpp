#pragma once
// stepsim tune SCENARIO --emit ddp: bucket sizes for PyTorch's DistributedDataParallel, with a
// Python snippet that applies them (TRN 8.3).
#include "cli/shell/app.hpp"
#include "document/json.hpp"
#include "scenario/files.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

// Writes the settings as JSON, and next to the result (print_beside) a table of step times:
// PyTorch's default, one size for all buckets, and a list of sizes. Throws UsageError for a format
// other than json, and as study::ddp_buckets() does.
int emit_ddp(const io::Json& scenario, study::Files& files, const study::RowsOptions& options,
             const Common& common);

} // namespace stepsim::cli
