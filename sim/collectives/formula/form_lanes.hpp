#pragma once
// The closed forms of one collective on kLanes networks side by side, one vector lane each, for
// sweeps: the time of a message of n bytes on every network at once. The networks differ in
// latency, bandwidth and ranks; operation, candidates and options are the same. With form[k] the
// form of lane k, at(n) gives, bit for bit,
//     seconds[k] = form[k].at(n).form.seconds
// Seconds, bytes, and seconds per byte.
#include <array>
#include <cstddef>
#include <vector>

#include "collectives/formula/prepared_form.hpp"

namespace stepsim::collectives {

class FormLanes {
public:
  static constexpr std::size_t kLanes = 32;
  using Lanes = std::array<double, kLanes>;

  // Forgets the forms of all lanes.
  void clear() { rows_.clear(); }
  // Sets the form of a lane, and of all lanes if it is the first one. Returns false, and leaves the
  // lane as it was, if lanes do not support the form: its algorithms differ from those of the lanes
  // set before, or its block size is given or found by a search.
  [[nodiscard]] bool set(std::size_t lane, const PreparedForm& form);
  // The algorithm of a candidate.
  [[nodiscard]] AlgorithmId algorithm(std::size_t candidate) const {
    return rows_[candidate].algorithm;
  }

  // Needs a form that was set. Computes the form of a message of `bytes` > 0 on every network: its
  // seconds, the number of the candidate that is taken, and 1 if the form is an upper bound, else
  // 0.
  void at(double bytes, Lanes& seconds, Lanes& candidate, Lanes& upper_bound) const;

private:
  enum class Kind { linear, pipeline, tree };
  struct Row { // a candidate on all networks
    AlgorithmId algorithm{};
    Kind kind{};
    bool even = true; // a pipeline whose first block is as fast as the others, on all networks
    std::array<Lanes, 7> numbers{}; // startup, per_byte and upper_bound, or those of StreamNetwork
  };
  static void row_at(const Row& row, double bytes, Lanes& seconds, Lanes& upper_bound);

  std::vector<Row> rows_; // [candidate]
};

} // namespace stepsim::collectives
