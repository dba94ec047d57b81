#pragma once
// Writes the page of a paper as Markdown (REP 1): for each figure the question, the picture, the
// table, the commands and the verdicts; then the assumptions, the values that could not be read
// from the paper, later papers, and the sources of all numbers.

#include "study/reproduce/paper_records.hpp"

namespace stepsim::reproduce {

// Returns the page. `images` is the path that links have before ID.svg; empty if the pictures are
// in the folder of the page. Throws InputError if a table cannot be evaluated (paper_records.hpp).
[[nodiscard]] std::string paper_page(const Reproduced& all, std::string_view images);

// The number of figures of a paper that are drawn, and of its claims with each verdict.
struct Counts {
  std::size_t figures{};
  std::array<std::size_t, kVerdicts.all().size()> claims{}; // by Verdict
  Counts& operator+=(const Counts& more);
};
[[nodiscard]] Counts counts_of(const Reproduced& all);

// Returns the page with the claims of all papers.
[[nodiscard]] std::string claims_page(const std::vector<Reproduced>& papers);
// Returns the counts in words: "27 figures, 20 claims: 9 met, 6 not met, 2 bracketed, 3
// not comparable".
[[nodiscard]] std::string counts_text(const Counts& counts);
// Returns one row per claim: figure, verdict, our numbers, the paper's numbers, label and text.
[[nodiscard]] std::vector<std::vector<std::string>> claim_rows(const std::vector<Decided>& decided);

// Makes the drawing of a figure of a reproduction: series become curves, bars and spans, and a box
// gives the reason if a claim of the figure is not met.

// Returns the drawing of a figure of the paper. Reported points and bars from tables that may not
// be drawn (may_be_drawn()) are left out. Throws InputError if a series cannot be evaluated
// (paper_records.hpp).
[[nodiscard]] plot::Figure drawing(const FigureOf& figure, const Reproduced& all);

// Returns the label of a table in words, such as "reported (repository)"; "" for tables of our own
// numbers and for runs. `run` is the id of a run or table.
[[nodiscard]] std::string evidence(const Reproduction& paper, const std::string& run);

// The tables of a figure's page in Markdown. They are made of its curves and bars, so that a page
// cannot say other numbers than the picture beside it.

using Row = std::vector<std::string>;

[[nodiscard]] std::string markdown_table(const Row& heading, const std::vector<Row>& rows);
// Lines as columns over x, reported ones among them with their label.
[[nodiscard]] std::string curve_table(const plot::Panel& panel, const FigureOf& figure);
// A row per bar, or per group of bars without names; a part that is not there is an empty cell.
[[nodiscard]] std::string bar_table(const PanelOf& panel, const plot::Panel& drawn,
                                    const FigureOf& figure, const Reproduction& paper);
[[nodiscard]] std::string lane_table(const plot::Panel& drawn);
// The columns of records; a number that a record lacks is an empty cell.
[[nodiscard]] std::string record_table(const RecordTable& table, const Reproduced& all);
// Ours, theirs, label and difference, a row per record.
[[nodiscard]] std::string comparison_table(const Comparison& comparison, const Reproduced& all);

} // namespace stepsim::reproduce
