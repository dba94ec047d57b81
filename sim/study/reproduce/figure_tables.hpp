#pragma once
// The tables of a figure's page in Markdown. They are made of its curves and bars, so that a page
// cannot say other numbers than the picture beside it.
#include <string>
#include <vector>

#include "study/reproduce/drawing.hpp"

namespace stepsim::reproduce {

using Row = std::vector<std::string>;

[[nodiscard]] std::string markdown_table(const Row& heading, const std::vector<Row>& rows);
// Lines as columns over x, reported ones among them with their label.
[[nodiscard]] std::string curve_table(const PanelOf& panel, const FigureOf& figure,
                                      const Reproduction& paper, const AllRecords& all);
// A row per bar; a part that a bar does not have is an empty cell.
[[nodiscard]] std::string bar_table(const PanelOf& panel, const plot::Panel& drawn,
                                    const Reproduction& paper);
[[nodiscard]] std::string lane_table(const plot::Panel& drawn);
// The columns of records; a number that a record lacks is an empty cell.
[[nodiscard]] std::string record_table(const RecordTable& table, const Reproduction& paper,
                                       const AllRecords& all);
// Ours, theirs, label and difference, a row per record.
[[nodiscard]] std::string comparison_table(const Comparison& comparison, const Reproduction& paper,
                                           const AllRecords& all);

} // namespace stepsim::reproduce
