#pragma once
// The page for the records of a sweep, a comparison or collectives: the best point in a sentence,
// one figure with its knee, a table of two varied fields, and all points.
#include <string>

#include "cli/plot/plot_rows.hpp"
#include "document/json.hpp"

namespace stepsim::cli {

struct RecordsPage {
  std::string html;
  io::Json facts; // answer, points, failed, varied fields, knee
};

inline constexpr std::size_t kMostListedPoints = 5000; // "all points" lists the first ones only

// `file`: name of the file that `rows` were read from, for texts and errors. `output`: path of the
// page, to which file names in the scenario are made relative. `footer`: plain text. Throws
// InputError if there are no records.
[[nodiscard]] RecordsPage records_page(const PlotRows& rows, const std::string& file,
                                       const std::string& output, const std::string& footer);

} // namespace stepsim::cli
