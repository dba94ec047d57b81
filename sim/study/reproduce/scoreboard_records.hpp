#pragma once
// Predicts measured training speeds, row by row.
#include <string>

#include "scenario/files.hpp"
#include "study/reproduce/paper_records.hpp"
#include "study/reproduce/speed_rules.hpp"

namespace stepsim::reproduce {

struct PredictedRows {
  Records rows;
  Records not_predicted; // rows with the column not_predicted, the reason
};

// Runs the scenario of every row, and returns those that could be predicted with the columns
//   scenario                                    what was run, with nominal links
//   measured_step_s, predicted_step_s           seconds
//   predicted, predicted_low, predicted_high    speed and its interval, in the unit of the row
//   error                                       100 (predicted step / measured step - 1), %
//   size                                        |error|, %
//   alone_error                                 `error` without communication, %
//   communication, situation                    whether it takes much of the step; situation_of()
//   typical_scenario, typical_step_s            the same under typical conditions (CON)
//   typical, typical_low, typical_high          speed, and the interval of 80 % of all sites
//   typical_error                               `error` under typical conditions, %
//   not_predicted                               why a row has no column typical
//   publisher, model_family                     by Scoreboard::publishers and families
// Layer tables that the rules make are written to `folder`. Throws InputError, with the reason of
// the first row, if none can be predicted.
[[nodiscard]] PredictedRows predicted_rows(const Records& rows, const Scoreboard& rules,
                                           study::Files& files, const std::string& folder);

} // namespace stepsim::reproduce
