#pragma once
// Makes the drawing of a figure of a reproduction: series become curves, bars and spans, and a box
// gives the reason if a claim of the figure is not met.
#include <string>
#include <vector>

#include "plot/figure.hpp"
#include "reproduce/paper_records.hpp"
#include "reproduce/verdicts.hpp"

namespace stepsim::reproduce {

// The drawing of `figure`. Points of tables without may_be_drawn() are left out. Throws InputError
// if a series cannot be evaluated (series.hpp).
[[nodiscard]] plot::Figure drawing(const FigureOf& figure, const Reproduction& paper,
                                   const AllRecords& all, const std::vector<Decided>& decided);

// The label of a table, such as "reported (repository)"; empty for numbers of our own and for runs.
[[nodiscard]] std::string evidence(const Reproduction& paper, const std::string& run);
// Whether the numbers of this run or table may be drawn; false for some labels of tables.
[[nodiscard]] bool may_be_drawn(const Reproduction& paper, const std::string& run);

// The points of a curve, by ascending x. Throws InputError if the series cannot be evaluated
// (series.hpp).
[[nodiscard]] std::vector<plot::Point> points_of(const Curve& curve, const AllRecords& all,
                                                 const std::string& file);

} // namespace stepsim::reproduce
