#pragma once
// stepsim tune SCENARIO --emit nccl-tuner: the table for NCCL's example tuner plug-in (CLU 12) on
// the cluster of a scenario, from the library model or from measurements with forced algorithms.
#include <string>

#include "cli/shell/app.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::cli {

// The flags as typed; "" = not given.
struct TunerFlags {
  std::string from;      // model, or LOG@algorithm/protocol,...
  std::string min_gain;  // least gain over NCCL's own choice for which a line changes that choice
  std::string max_bytes; // largest message size, at which the last line of the table ends
};
void add_tuner_flags(CLI::App& app, TunerFlags& flags);
// Whether any of the flags was given.
[[nodiscard]] bool any_given(const TunerFlags& flags);

// Writes the table to -o, without lines if none differs from NCCL's own choice, prints the gain of
// each line with print_beside(), and returns kOk. Throws UsageError for flags, for a scenario
// without the collective `library` among several ranks, for a log with an operation that the table
// lacks, and for an operation with fewer than 3 sizes in all logs together; InputError for other
// errors of logs.
int emit_nccl_tuner(const study::Scenario& scenario, const TunerFlags& flags, const Common& common);

} // namespace stepsim::cli
