#pragma once
// A figure of a reproduction with its numbers: series become curves, bars and spans, and where a
// claim of the figure is not met its reason stands in a box.
#include <string>
#include <vector>

#include "plot/figure.hpp"
#include "reproduce/paper_records.hpp"
#include "reproduce/verdicts.hpp"

namespace stepsim::reproduce {

// Points of a table whose label does not count are left out. Throws InputError.
[[nodiscard]] plot::Figure drawing(const FigureOf& figure, const Reproduction& paper,
                                   const AllRecords& all, const std::vector<Decided>& decided);

// The label of a table: "reported (repository)"; "" for numbers of our own and for a run.
[[nodiscard]] std::string evidence(const Reproduction& paper, const std::string& run);
// Whether numbers of this run or table may be drawn.
[[nodiscard]] bool may_be_drawn(const Reproduction& paper, const std::string& run);

// The points of a curve by ascending x.
[[nodiscard]] std::vector<plot::Point> points_of(const Curve& curve, const AllRecords& all,
                                                 const std::string& file);

} // namespace stepsim::reproduce
