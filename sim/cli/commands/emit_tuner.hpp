#pragma once
// stepsim tune SCENARIO --emit nccl-tuner: for the cluster of a scenario, the table that NCCL's
// example tuner plug-in reads (CLU 12), by the model of the library or by forced measurements.
#include <string>

#include "cli/shell/app.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::cli {

// As typed; "" = not given.
struct TunerFlags {
  std::string from;      // model, or LOG@algorithm/protocol,...
  std::string min_gain;  // what a change from the published choice gains at least
  std::string max_bytes; // end of the last line
};
void add_tuner_flags(CLI::App& app, TunerFlags& flags);
// Whether one of them was given.
[[nodiscard]] bool any_given(const TunerFlags& flags);

// Writes the table to -o, prints the gain of each line beside it and returns kOk. Throws UsageError
// for flags, for a scenario without the collective `library` among several ranks and for logs of an
// operation that the table lacks or of fewer than 3 sizes, InputError for all else in logs.
int emit_nccl_tuner(const study::Scenario& scenario, const TunerFlags& flags, const Common& common);

} // namespace stepsim::cli
