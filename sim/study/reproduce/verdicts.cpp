#include "study/reproduce/paper_records.hpp"

#include <cmath>

#include "document/fields/members.hpp"
#include "study/reproduce/series.hpp"

namespace stepsim::reproduce {

namespace {

std::string range_text(const std::vector<double>& values, const std::string& unit) {
  if (values.empty()) {
    return "-";
  }
  const auto [low, high] = std::ranges::minmax(values);
  const std::string first = shown_number(low);
  const std::string last = shown_number(high);
  return first + (first == last ? "" : " to " + last) + (unit.empty() ? "" : " " + unit);
}

} // namespace

std::string shown_number(double value) {
  constexpr double kMost = 1e9;
  return value == std::round(value) && std::abs(value) < kMost ? base::shortest(value)
                                                               : base::significant(value);
}

std::string reason_text(const Decided& decided) {
  std::string text = decided.claim->reason;
  if (decided.verdict == Verdict::bracketed) {
    text = "nobody outside knows " + decided.claim->free + (text.empty() ? "." : ". " + text);
  }
  if (const std::size_t place = text.find("{}"); place != std::string::npos) {
    text.replace(place, 2, ours_text(decided));
  }
  return text;
}

std::vector<Decided> decide(const Reproduction& paper, const AllRecords& all) {
  std::vector<Decided> decided;
  for (const Claim& claim : paper.claims) {
    Decided& one = decided.emplace_back(Decided{&claim, Verdict::not_comparable, {}});
    for (const Cell& cell : claim.ours) {
      one.ours.push_back(evaluate(cell, all, paper.file));
    }
    if (!one.ours.empty() && claim.comparable && counts(claim.label)) {
      const auto [low, high] = std::ranges::minmax(one.ours);
      const bool met = (!claim.low || low >= *claim.low) && (!claim.high || high <= *claim.high);
      one.verdict = !met                 ? Verdict::not_met
                    : claim.free.empty() ? Verdict::met
                                         : Verdict::bracketed;
    }
  }
  return decided;
}

std::string verdict_text(const Decided& decided) {
  std::string text(kVerdicts[decided.verdict]);
  if (decided.verdict != Verdict::not_comparable && decided.claim->label == Label::second_hand) {
    text += " as read by others";
  }
  return text;
}

std::string ours_text(const Decided& decided) {
  return range_text(decided.ours, decided.claim->unit);
}

std::string theirs_text(const Claim& claim) {
  return claim.theirs.empty() ? range_text(claim.reported, claim.unit) : claim.theirs;
}

std::string limits_text(const Claim& claim) {
  std::string text = claim.low ? "at least " + base::shortest(*claim.low) : std::string();
  if (claim.high) {
    text += (text.empty() ? "at most " : ", at most ") + base::shortest(*claim.high);
  }
  return text.empty() ? "-" : text;
}

io::Json claims_tree(const Reproduction& paper, const std::vector<Decided>& decided) {
  io::Array claims = io::write_each(decided, [](const Decided& each) {
    const Claim& claim = *each.claim;
    io::Json tree =
        io::tree_of<&Claim::id, &Claim::figure, &Claim::text, &Claim::source, &Claim::reported,
                    &Claim::unit, &Claim::free, &Claim::low, &Claim::high>(claim);
    tree.set("label", kLabels[claim.label]);
    tree.set("verdict", verdict_text(each));
    tree.set("ours", io::list_of(each.ours));
    tree.set("reason", reason_text(each));
    return tree;
  });
  return io::Object{{"paper", paper.name}, {"claims", std::move(claims)}};
}

} // namespace stepsim::reproduce
