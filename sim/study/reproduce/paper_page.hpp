#pragma once
// Writes the page of a paper as Markdown (REP 1): for each figure the question, the picture, the
// table, the commands and the verdicts; then the assumptions, the values that could not be read
// from the paper, later papers, and the sources of all numbers.
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "study/reproduce/paper_records.hpp"
#include "study/reproduce/verdicts.hpp"

namespace stepsim::reproduce {

// Returns the page. `images` is the path that links have before ID.svg; empty if the pictures are
// in the folder of the page. Throws InputError if a table cannot be evaluated (series.hpp).
[[nodiscard]] std::string paper_page(const Reproduction& paper, const AllRecords& all,
                                     const std::vector<Decided>& decided, std::string_view images);

// The number of figures of a paper that are drawn, and of its claims with each verdict.
struct Counts {
  std::size_t figures{};
  std::array<std::size_t, kVerdicts.all().size()> claims{}; // by Verdict
  Counts& operator+=(const Counts& more);
};
[[nodiscard]] Counts counts_of(const Reproduction& paper, const std::vector<Decided>& decided);

// A paper with the verdicts of its claims.
struct PaperClaims {
  const Reproduction* paper{};
  const std::vector<Decided>* decided{};
};
// Returns the page with the claims of all papers.
[[nodiscard]] std::string claims_page(const std::vector<PaperClaims>& papers);
// Returns the counts in words: "27 figures, 20 claims: 9 met, 6 not met, 2 bracketed, 3
// not comparable".
[[nodiscard]] std::string counts_text(const Counts& counts);
// Returns one row per claim: figure, verdict, our numbers, the paper's numbers, label and text.
[[nodiscard]] std::vector<std::vector<std::string>> claim_rows(const std::vector<Decided>& decided);

} // namespace stepsim::reproduce
