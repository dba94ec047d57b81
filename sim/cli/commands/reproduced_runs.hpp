#pragma once
// Executes the runs of a reproduction; each is an ordinary command of stepsim, run in this process.

#include "cli/shell/output.hpp"
#include "study/reproduce/paper_records.hpp"

namespace stepsim::cli {

struct RunChoice {
  std::string folder; // existing folder in which RUN.jsonl is written
  bool quick = false; // use the stored records of slow runs
  std::string jobs;   // value of --jobs for sweeps; "" = default of `sweep`
};

// The records of all runs and tables of a paper. Words of a command that name a shipped file, such
// as reproduce/lp/step.scenario.json, are looked up in the data folder. If a command fails, throws
// SimulationError `run ID: ...`, or the InputError of the command.
[[nodiscard]] reproduce::AllRecords reproduced_records(const reproduce::Reproduction& paper,
                                                       const Invocation& invocation,
                                                       const RunChoice& choice);

// Predicts measured speeds that the user has by the rules of the scoreboard (REP 3.6).

struct OwnSpeeds {
  std::string file;   // measured speeds, with the columns of reproduce/scoreboard/rows.csv
  std::string folder; // where the tables are written; it is made
  std::string jobs;   // as in RunChoice
};

// Writes the errors of the groups of rows, and to `folder` each row with its prediction. Throws
// InputError if no row can be predicted.
void predict_own_speeds(const OwnSpeeds& own, const Invocation& invocation, const Common& common);

} // namespace stepsim::cli
