// Verdicts of claims, by their label and their limits.
#include "study/reproduce/paper_records.hpp"

#include <doctest/doctest.h>

#include "document/json_text.hpp"

using namespace stepsim;
using namespace stepsim::reproduce;

namespace {

// The claim that a value of 1.5 lies in [low, high], as `label` vouches for it.
std::string verdict(Label label, std::optional<double> low, std::optional<double> high,
                    bool with_cells = true, std::string free = "") {
  Reproduction paper;
  Claim& claim = paper.claims.emplace_back();
  claim.label = label;
  claim.low = low;
  claim.high = high;
  claim.free = std::move(free);
  if (with_cells) {
    claim.ours.push_back(
        Cell{.series = {.run = "t", .where = {}, .when = "", .other = {}, .place = ""},
             .value = "s",
             .reduce = Reduce::one,
             .group = {},
             .with = ""});
  }
  const Reproduced all =
      decide(std::move(paper), {{"t", records_of_lines(R"({"s":1.5})", "t.jsonl")}});
  return verdict_text(all.decided.front());
}

} // namespace

TEST_CASE("verdicts: met within the limits, else not met") {
  CHECK(verdict(Label::abstract, 1, 2) == "met");
  CHECK(verdict(Label::abstract, 1.5, {}) == "met");
  CHECK(verdict(Label::repository, 1.6, {}) == "not met");
  CHECK(verdict(Label::repository, {}, 1.4) == "not met");
}

TEST_CASE("verdicts: what only a free input makes true is bracketed, what it does not is not met") {
  CHECK(verdict(Label::abstract, 1, 2, true, "the load") == "bracketed");
  CHECK(verdict(Label::second_hand, 1, 2, true, "the load") == "bracketed as read by others");
  CHECK(verdict(Label::abstract, 1.6, {}, true, "the load") == "not met");
}

TEST_CASE("verdicts: what others read is met or not met in these words") {
  CHECK(verdict(Label::second_hand, 1, 2) == "met as read by others");
  CHECK(verdict(Label::second_hand, 2, 3) == "not met as read by others");
}

TEST_CASE("verdicts: recalled and unreadable numbers decide nothing") {
  CHECK(verdict(Label::recalled, 1, 2) == "not comparable");
  CHECK(verdict(Label::recalled, 2, 3) == "not comparable");
  CHECK(verdict(Label::unreadable, 1, 2) == "not comparable");
  CHECK(verdict(Label::abstract, 1, 2, false) == "not comparable");
}

TEST_CASE("verdicts: numbers as people write them") {
  CHECK(shown_number(16) == "16");
  CHECK(shown_number(1.26149) == "1.261");
}
