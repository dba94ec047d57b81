#pragma once
// Compares measured with predicted training speeds over all rows, and by what they have in common.
#include <string>

#include "study/reproduce/scoreboard_records.hpp"

namespace stepsim::reproduce {

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
