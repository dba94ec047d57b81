#pragma once
// The records of a sweep, a comparison or of collectives as a page: the best point in a sentence,
// one figure with its knee, a table of two varied fields, all points.
#include <string>

#include "cli/plot/plot_rows.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

struct RecordsPage {
  std::string html;
  io::Json facts; // answer, points, failed, varied fields, knee
};

inline constexpr std::size_t kMostListedPoints = 5000;

// `output`: where the page goes, for the names of files in the scenario. Throws InputError where
// there are no records.
[[nodiscard]] RecordsPage records_page(const PlotRows& rows, const std::string& file,
                                       const std::string& output, const std::string& footer);

} // namespace stepsim::cli
