#pragma once
// Compares measured with predicted speeds, row by row and over all rows.
#include <string>

#include "reproduce/paper_records.hpp"
#include "reproduce/speed_rules.hpp"
#include "scenario/files.hpp"

namespace stepsim::reproduce {

// Adds to each row: measured and predicted step (s), the predicted speed with its interval in the
// unit of the row, error (predicted over measured step, less 1, in %), size (its absolute value),
// alone (size where communication is left out), publisher and family. Rows without a base
// measurement are left out. Layer tables that the rules make are written to `folder`. Throws
// InputError.
[[nodiscard]] Records predicted_rows(const Records& rows, const Scoreboard& rules,
                                     study::Files& files, const std::string& folder);

// What the predicted rows say together, by name:
//   ID_sorted  share (%) of rows whose error is at most `size`, and `alone` likewise
//   ID_groups  by, name, rows, median, p90, worst, shorter (% of rows predicted too short): all
//              rows, and by publisher, family, fabric and inputs
//   ID_pairs   difference of measured speeds, pairs, right (%): rows that differ in nothing but
//              method or network, and whether the faster one is predicted to be the faster
//   ID_ends    least and greatest of all measured speeds
[[nodiscard]] AllRecords scoreboard_tables(const std::string& id, const Records& predicted,
                                           std::size_t rows);

// The predicted rows as CSV, to which others may add a column.
[[nodiscard]] std::string scoreboard_csv(const Records& predicted);

} // namespace stepsim::reproduce
