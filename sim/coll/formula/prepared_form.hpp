#pragma once
// The closed form of one collective as a function of its bytes, for callers that ask for many
// sizes: planners and sweeps. Rates, ranks, the depths of trees and the candidates of `auto` are
// looked at once; a size then costs a few operations. With c of n > 0 bytes and p = prepare(c), bit
// for bit,
//     p->at(n).algorithm = with_chosen_algorithm(c).algorithm
//     p->at(n).form      = closed_form(with_chosen_algorithm(c))
#include <optional>
#include <variant>
#include <vector>

#include "coll/collective.hpp"
#include "coll/formula/blocks.hpp"
#include "coll/formula/closed_form.hpp"

namespace stepsim::coll {

class PreparedForm {
public:
  struct Answer {
    AlgorithmId algorithm{};
    ClosedForm form;
  };
  // `bytes` > 0. Of candidates of `auto` the cheapest, the first of equals, as choose_algorithm.
  [[nodiscard]] Answer at(double bytes) const;
  // A line that the seconds of `low` to `high` bytes are never below, rounding aside.
  [[nodiscard]] Line least_line(double low, double high) const;

private:
  friend std::optional<PreparedForm> prepare(const Collective& collective);

  // a + b n with whatever else the form says, or blocks.
  struct Candidate {
    AlgorithmId algorithm{};
    std::variant<ClosedForm, BlockRule> form;
    [[nodiscard]] ClosedForm at(double bytes) const;
    [[nodiscard]] Line least_line(double low, double high) const;
    // Whether the seconds are known to be `seconds` or more.
    [[nodiscard]] bool at_least(double seconds, double bytes) const;
  };
  [[nodiscard]] static std::optional<Candidate> candidate(const Collective& collective);

  std::vector<Candidate> candidates_;
};

// Empty unless every candidate is a flat algorithm whose exact closed form is linear in the bytes
// or follows a BlockRule: with unlike links or ranks, printed cost forms, parts of given sizes.
// The bytes of `collective` are ignored.
[[nodiscard]] std::optional<PreparedForm> prepare(const Collective& collective);

} // namespace stepsim::coll
