#pragma once
// The closed form of one collective as a function of its bytes, for callers that ask for many
// sizes: planners and sweeps. What depends on rates, ranks, the depths of trees and the candidates
// of `auto` is computed once; a size then costs a few operations. With c of n > 0 bytes and
// p = prepare(c), bit for bit,
//     p->at(n).algorithm = with_chosen_algorithm(c).algorithm
//     p->at(n).seconds   = closed_form(with_chosen_algorithm(c)).seconds, and so upper_bound
#include <utility>
#include <variant>

#include "collectives/formula/blocks.hpp"

namespace stepsim::collectives {

class PreparedForm {
public:
  struct Answer {
    AlgorithmId algorithm{};
    double seconds{};
    bool upper_bound = false; // as in ClosedForm
  };
  // Returns algorithm and time for `bytes` > 0. For `auto` it is the cheapest candidate, and of
  // equal ones the first, as in choose_algorithm().
  [[nodiscard]] Answer at(double bytes) const {
    return candidates_.size() == 1 ? candidates_.front().at(bytes) : best(bytes).second;
  }
  // Seconds of latencies and of bytes of messages of these sizes, all by the algorithm and the
  // block of the first one; at least one, each > 0. Empty if additions are not hidden behind links,
  // or the block is given, below one byte or found by a search.
  struct Parts {
    double latency_s{}, bandwidth_s{};
  };
  [[nodiscard]] std::optional<Parts> parts(std::span<const double> bytes) const;
  // A line that bounds at(n).seconds from below, up to rounding, for `low` <= n <= `high`.
  [[nodiscard]] Line least_line(double low, double high) const;
  // The line at(n).seconds of one algorithm that is no upper bound; empty if it is not that.
  [[nodiscard]] std::optional<Line> line() const;

private:
  friend std::optional<PreparedForm> prepare(const Collective& collective);

  // An algorithm with its form: a + b n (a ClosedForm whose `seconds` is not used), or blocks.
  struct Candidate {
    AlgorithmId algorithm{};
    std::variant<ClosedForm, BlockRule> form;
    [[nodiscard]] Answer at(double bytes) const {
      const auto* const line = std::get_if<ClosedForm>(&form);
      return line != nullptr ? Answer{algorithm, *line->startup_s + *line->per_byte_s * bytes,
                                      line->upper_bound}
                             : of_blocks(bytes);
    }
    [[nodiscard]] Answer of_blocks(double bytes) const;
    [[nodiscard]] Line least_line(double low, double high) const;
  };
  [[nodiscard]] static std::optional<Candidate> candidate(const Collective& collective);
  [[nodiscard]] std::pair<const Candidate*, Answer> best(double bytes) const;

  std::vector<Candidate> candidates_;
};

// Returns the prepared form. It exists only if every candidate is a flat algorithm whose exact
// closed form is linear in the bytes or follows a BlockRule; it is empty for allgatherv and
// alltoall, for at most one rank, if links or ranks differ, and with measured steps, held_bytes or
// a cost form other than exact. The bytes of `collective` are ignored.
[[nodiscard]] std::optional<PreparedForm> prepare(const Collective& collective);

} // namespace stepsim::collectives
