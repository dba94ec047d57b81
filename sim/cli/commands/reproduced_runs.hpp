#pragma once
// The runs of a reproduction: each is an ordinary command of this program, run in this process.
#include <string>

#include "cli/shell/app.hpp"
#include "reproduce/paper_records.hpp"
#include "reproduce/reproduction.hpp"

namespace stepsim::cli {

struct RunChoice {
  std::string folder; // where RUN.jsonl is written; exists
  bool quick = false; // slow runs take their stored records
  std::string jobs;   // for sweeps; "": their default
};

// The records of all runs and tables of a paper. Words of a command that name a shipped file, such
// as reproduce/lp/step.scenario.json, are looked up in the data folder. Throws SimulationError
// `run ID: ...` for a run that fails, and what the command throws.
[[nodiscard]] reproduce::AllRecords reproduced_records(const reproduce::Reproduction& paper,
                                                       const Invocation& invocation,
                                                       const RunChoice& choice);

} // namespace stepsim::cli
