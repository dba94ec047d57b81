#pragma once
// The page of a paper as Markdown (REP 1): for each figure the question, the picture, the table,
// the commands and the verdicts; then what is assumed, what could not be read, and later papers.
#include <string>
#include <string_view>
#include <vector>

#include "reproduce/paper_records.hpp"
#include "reproduce/verdicts.hpp"

namespace stepsim::reproduce {

// `images`: what stands before ID.svg in links, "" where they lie beside the page. Throws
// InputError.
[[nodiscard]] std::string paper_page(const Reproduction& paper, const AllRecords& all,
                                     const std::vector<Decided>& decided, std::string_view images);

// Verdicts of one paper.
struct Counts {
  std::size_t figures{}, met{}, not_met{}, not_comparable{};
};
[[nodiscard]] Counts counts_of(const Reproduction& paper, const std::vector<Decided>& decided);

// One paper among all: its page and its claims.
struct PaperClaims {
  const Reproduction* paper{};
  const std::vector<Decided>* decided{};
};
// The page of all claims.
[[nodiscard]] std::string claims_page(const std::vector<PaperClaims>& papers);
// "27 figures, 20 claims: 9 met, 6 not met, 5 not comparable"
[[nodiscard]] std::string counts_text(const Counts& counts);
// A line per claim, with the verdict, our numbers, theirs and the label.
[[nodiscard]] std::vector<std::vector<std::string>> claim_rows(const std::vector<Decided>& decided);

} // namespace stepsim::reproduce
