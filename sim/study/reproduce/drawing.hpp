#pragma once
// Makes the drawing of a figure of a reproduction: series become curves, bars and spans, and a box
// gives the reason if a claim of the figure is not met.
#include <string>
#include <vector>

#include "plot/figure.hpp"
#include "study/reproduce/paper_records.hpp"
#include "study/reproduce/verdicts.hpp"

namespace stepsim::reproduce {

// Returns the drawing of `figure`. `decided` are the verdicts of the paper's claims. Reported
// points and bars from tables that may not be drawn (may_be_drawn()) are left out. Throws
// InputError if a series cannot be evaluated (series.hpp).
[[nodiscard]] plot::Figure drawing(const FigureOf& figure, const Reproduction& paper,
                                   const AllRecords& all, const std::vector<Decided>& decided);

// Returns the label of a table in words, such as "reported (repository)"; "" for tables of our own
// numbers and for runs. `run` is the id of a run or table.
[[nodiscard]] std::string evidence(const Reproduction& paper, const std::string& run);
// Whether the numbers of this run or table may be drawn: all but those of tables whose label is
// `recalled` or `unreadable`.
[[nodiscard]] bool may_be_drawn(const Reproduction& paper, const std::string& run);

// Returns the points of a curve, by ascending x. `file` is the name of figures.json in errors.
// Throws InputError if the series cannot be evaluated (series.hpp).
[[nodiscard]] std::vector<plot::Point> points_of(const Curve& curve, const AllRecords& all,
                                                 const std::string& file);

} // namespace stepsim::reproduce
