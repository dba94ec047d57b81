#pragma once
// Predicts measured speeds that the user has by the rules of the scoreboard (REP 3.6).
#include <string>

#include "cli/shell/app.hpp"
#include "cli/shell/output.hpp"

namespace stepsim::cli {

struct OwnSpeeds {
  std::string file;   // measured speeds, with the columns of reproduce/scoreboard/rows.csv
  std::string folder; // where the tables are written; it is made
  std::string jobs;   // as in RunChoice
};

// Writes the errors of the groups of rows, and to `folder` each row with its prediction. Throws
// InputError if no row can be predicted.
void predict_own_speeds(const OwnSpeeds& own, const Invocation& invocation, const Common& common);

} // namespace stepsim::cli
