#pragma once
// Compares measured with predicted training speeds over all rows, and by what they have in common.

#include "scenario/files.hpp"
#include "study/reproduce/paper_records.hpp"

namespace stepsim::reproduce {

// Predicts measured training speeds, row by row.

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

// Returns the tables that sum up the predicted rows. `id` is the id of their table.
//   ID_sorted  share (1 to 100 %), and the size (%) that this share of the rows does not exceed, by
//              conditions, as in ID_conditions
//   ID_groups  by, name, rows; median, p90 and worst of `size` (%); shorter: % of rows with a
//              predicted step that is too short. For all rows (with not_predicted, a number of
//              rows), and by publisher, model_family, fabric and inputs
//   ID_conditions  the same of steps without communication, under ideal and under typical
//   conditions
//              (`conditions`), for all rows and by situation and communication; coverage: % of rows
//              whose speed is in its interval; width: median of the interval of the step, % of it
//   ID_pairs   pairs of rows that differ in method or network only, by the difference of their
//              measured speeds: pairs, and right: % of pairs whose faster row is predicted faster
//   ID_ends    two records, with the least and the greatest measured speed
//   ID_reasons why rows were not predicted: reason, rows, and conditions: `typical` or `all`
//   ID_not_predicted  rows without any prediction
[[nodiscard]] AllRecords scoreboard_tables(const std::string& id, const PredictedRows& all);

// Returns all rows as CSV, those that were predicted first; other simulators may add a column.
[[nodiscard]] std::string scoreboard_csv(const Records& predicted, const Records& not_predicted);

} // namespace stepsim::reproduce
