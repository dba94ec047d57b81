#pragma once
// Whether a claim of a paper holds in our numbers (REP, verdicts): met, not met, or not comparable.
// A claim that only somebody else read is met "as read by others".
#include <string>
#include <vector>

#include "base/words.hpp"
#include "reproduce/paper_records.hpp"
#include "reproduce/reproduction.hpp"

namespace stepsim::reproduce {

enum class Verdict { met, not_met, not_comparable };
inline constexpr auto kVerdicts =
    base::words<Verdict>({{Verdict::met, "met"},
                          {Verdict::not_met, "not met"},
                          {Verdict::not_comparable, "not comparable"}});

struct Decided {
  const Claim* claim{};
  Verdict verdict{};
  std::vector<double> ours; // as many as the claim has cells
};

// One per claim, in the order of the file. A claim whose label does not count, that has no
// cells or that says so is not comparable. Throws InputError.
[[nodiscard]] std::vector<Decided> decide(const Reproduction& paper, const AllRecords& all);

// "met", "met as read by others".
[[nodiscard]] std::string verdict_text(const Decided& decided);
// Whole numbers as they are, others with four digits.
[[nodiscard]] std::string shown_number(double value);
// The reason of a claim; {} in it stands for our numbers.
[[nodiscard]] std::string reason_text(const Decided& decided);
// "1.261 to 6.582 x"; "-" without numbers.
[[nodiscard]] std::string ours_text(const Decided& decided);
[[nodiscard]] std::string theirs_text(const Claim& claim);
// "at least 2.7, at most 12"; "-" where nothing decides.
[[nodiscard]] std::string limits_text(const Claim& claim);

// The tree of claims.json.
[[nodiscard]] io::Json claims_tree(const Reproduction& paper, const std::vector<Decided>& decided);

} // namespace stepsim::reproduce
