#pragma once
// Compares measured with predicted training speeds, row by row and over all rows.
#include <string>

#include "scenario/files.hpp"
#include "study/reproduce/paper_records.hpp"
#include "study/reproduce/speed_rules.hpp"

namespace stepsim::reproduce {

struct PredictedRows {
  Records rows;
  Records not_predicted; // row, reason: without a base measurement, or without a rule for a word
};

// Runs the scenario of every row, and returns those that could be predicted with the columns
//   scenario                                    what was run, with nominal links
//   measured_step_s, predicted_step_s           seconds
//   predicted, predicted_low, predicted_high    speed and its interval, in the unit of the row
//   error                                       100 (predicted step / measured step - 1), %
//   size                                        |error|, %
//   alone                                       `size` of a prediction without communication, %
//   publisher, model_family                     by Scoreboard::publishers and families
// Layer tables that the rules make are written to `folder`. Throws InputError, with the reason of
// the first row, if none can be predicted.
[[nodiscard]] PredictedRows predicted_rows(const Records& rows, const Scoreboard& rules,
                                           study::Files& files, const std::string& folder);

// Returns the tables that sum up the predicted rows. `id` is the id of their table.
//   ID_sorted  share (%), and the size and alone (%) that this share of the rows does not exceed
//   ID_groups  by, name, rows; median, p90 and worst of `size` (%); shorter: % of rows with a
//              predicted step that is too short. For all rows (with not_predicted, a number of
//              rows), and by publisher, model_family, fabric and inputs
//   ID_pairs   pairs of rows that differ in method or network only, by the difference of their
//              measured speeds: pairs, and right: % of pairs whose faster row is predicted faster
//   ID_ends    two records, with the least and the greatest measured speed
//   ID_reasons why rows were not predicted: reason, rows
[[nodiscard]] AllRecords scoreboard_tables(const std::string& id, const PredictedRows& all);

// Returns the predicted rows as CSV, to which other simulators may add a column. Its columns are
// row, source, unit, measured, predicted, predicted_low, predicted_high, error and inputs.
[[nodiscard]] std::string scoreboard_csv(const Records& predicted);

} // namespace stepsim::reproduce
