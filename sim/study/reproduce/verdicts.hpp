#pragma once
// Whether a claim of a paper holds in our numbers (REP, verdicts): met, not met, bracketed, or not
// comparable. A claim is bracketed where our numbers hold it only because an input that the paper
// does not give may take any value; that confirms nothing. For a claim with label second_hand, "as
// read by others" follows all but the last.
#include <string>
#include <vector>

#include "base/words.hpp"
#include "study/reproduce/paper_records.hpp"
#include "study/reproduce/reproduction.hpp"

namespace stepsim::reproduce {

enum class Verdict { met, not_met, bracketed, not_comparable };
inline constexpr auto kVerdicts =
    base::words<Verdict>({{Verdict::met, "met"},
                          {Verdict::not_met, "not met"},
                          {Verdict::bracketed, "bracketed"},
                          {Verdict::not_comparable, "not comparable"}});

struct Decided {
  const Claim* claim{}; // in the Reproduction, whose claims must outlive this
  Verdict verdict{};
  std::vector<double> ours; // our numbers, one per cell of the claim
};

// Returns one element per claim, in the order of the file. A claim is not comparable if its label
// does not count (counts()), if it has no cells, or if its `comparable` is false. Throws InputError
// if a cell cannot be evaluated (series.hpp).
[[nodiscard]] std::vector<Decided> decide(const Reproduction& paper, const AllRecords& all);

// Returns the verdict in words: "met", "met as read by others".
[[nodiscard]] std::string verdict_text(const Decided& decided);
// Returns the number as text: whole numbers below 1e9 with all digits, others with four significant
// digits.
[[nodiscard]] std::string shown_number(double value);
// Returns the reason of a claim, with our numbers in place of {}.
[[nodiscard]] std::string reason_text(const Decided& decided);
// Returns the range of our numbers: "1.261 to 6.582 x"; "-" if there are none.
[[nodiscard]] std::string ours_text(const Decided& decided);
// Returns the numbers of the paper in the same form, or the claim in words (Claim::theirs).
[[nodiscard]] std::string theirs_text(const Claim& claim);
// Returns the range in which the claim is met: "at least 2.7, at most 12"; "-" without limits.
[[nodiscard]] std::string limits_text(const Claim& claim);

// Returns the content of claims.json.
[[nodiscard]] io::Json claims_tree(const Reproduction& paper, const std::vector<Decided>& decided);

} // namespace stepsim::reproduce
