#pragma once
// stepsim tune SCENARIO --emit WHAT: settings of other programs, written to the output, with what
// they gain next to it (print_beside); and plan-training --only units, which one of them is of.

#include "cli/shell/app.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

// Bucket sizes for PyTorch's DistributedDataParallel as JSON, with a Python snippet that applies
// them (TRN 8.3), and a table of step times: PyTorch's default, one size for all buckets, and a
// list of sizes. Throws UsageError for a format other than json, and as study::ddp_buckets() does.
int emit_ddp(const io::Json& scenario, study::Files& files, const study::SweepOptions& options,
             const Common& common);

// The best sharding units of `scenario`, read from `file`, beside those of its framework. Throws
// UsageError for a scenario that does not shard parameters and a format other than json and table,
// InputError for a memory that holds no units, SimulationError if a run fails.
int plan_units(const study::Scenario& scenario, const std::string& file, const Common& common);

// The sharding units of plan_units() as JSON, and its table. `tree` is the scenario as it was read,
// of which the settings contain the hash. Throws UsageError for a format other than json and for a
// scenario that does not shard parameters, and SimulationError if a run fails.
int emit_fsdp(const study::Scenario& scenario, const io::Json& tree, const Common& common);

// The flags as typed; "" = not given.
struct TunerFlags {
  std::string from;      // model, or LOG@algorithm/protocol,...
  std::string min_gain;  // least gain over NCCL's own choice for which a line changes that choice
  std::string max_bytes; // largest message size, at which the last line of the table ends
};
void add_tuner_flags(CLI::App& app, TunerFlags& flags);
// Whether any of the flags was given.
[[nodiscard]] bool any_given(const TunerFlags& flags);

// The table for NCCL's example tuner plug-in (CLU 12) on the cluster of a scenario, from the
// library model or from measurements with forced algorithms; without lines if none differs from
// NCCL's own choice. Prints the gain of each line and returns kOk. Throws UsageError for flags, for
// a scenario without the collective `library` among several ranks, for a log with an operation that
// the table lacks, and for an operation with fewer than 3 sizes in all logs together; InputError
// for other errors of logs.
int emit_nccl_tuner(const study::Scenario& scenario, const TunerFlags& flags, const Common& common);

} // namespace stepsim::cli
