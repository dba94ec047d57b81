#pragma once
// Executes the runs of a reproduction; each is an ordinary command of stepsim, run in this process.
#include <string>

#include "cli/shell/app.hpp"
#include "reproduce/paper_records.hpp"
#include "reproduce/reproduction.hpp"

namespace stepsim::cli {

struct RunChoice {
  std::string folder; // existing folder in which RUN.jsonl is written
  bool quick = false; // use the stored records of slow runs
  std::string jobs;   // --jobs of sweeps; "": the default
};

// The records of all runs and tables of a paper. Words of a command that name a shipped file, such
// as reproduce/lp/step.scenario.json, are looked up in the data folder. Throws SimulationError
// `run ID: ...` for a run that fails, or the exception of its command.
[[nodiscard]] reproduce::AllRecords reproduced_records(const reproduce::Reproduction& paper,
                                                       const Invocation& invocation,
                                                       const RunChoice& choice);

} // namespace stepsim::cli
