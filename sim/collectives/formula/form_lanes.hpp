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
  // Sets the form of a lane. Returns false, and leaves the lane as it was, if lanes do not support
  // the form: its algorithms differ from those of the lanes set before, or its block size is given
  // or found by a search.
  [[nodiscard]] bool set(std::size_t lane, const PreparedForm& form);
  // Makes lane `to` a copy of lane `from`. Lanes that were never set or copied hold any numbers.
  void copy(std::size_t from, std::size_t to);
  [[nodiscard]] bool empty() const { return rows_.empty(); }
  // The algorithm of a candidate.
  [[nodiscard]] AlgorithmId algorithm(std::size_t candidate) const {
    return rows_[candidate].algorithm;
  }

  // Needs a form that was set, as all functions below. Computes the form of a message of `bytes` >
  // 0 on every network: its seconds, the number of the candidate that is taken, and 1 if the form
  // is an upper bound, else 0.
  void at(double bytes, Lanes& seconds, Lanes& candidate, Lanes& upper_bound) const;
  // Sets startup_s[k] + per_byte_s[k] n to a lower bound of the seconds of at(n), up to rounding,
  // for low <= n <= high, high > low.
  void least_lines(double low, double high, Lanes& startup_s, Lanes& per_byte_s) const;
  // Sets block_bytes[k] to the size of the best blocks of a message of `bytes` by candidate[k], or
  // to `bytes` if it has none.
  void blocks(double bytes, const Lanes& candidate, Lanes& block_bytes) const;
  // Adds to latency_s[k] the seconds of a message of `bytes` whose bytes cost nothing, and to
  // bandwidth_s[k] those of one without latency, by candidate[k] and in blocks of block_bytes[k],
  // if it has blocks. Additions must cost nothing.
  void add_parts(double bytes, const Lanes& candidate, const Lanes& block_bytes, Lanes& latency_s,
                 Lanes& bandwidth_s) const;

private:
  enum class Kind { linear, pipeline, tree };
  // A candidate on all networks. Linear forms use `startup` and `per_byte`, all others the symbols
  // of StreamNetwork.
  struct Row {
    AlgorithmId algorithm{};
    Kind kind{};
    Lanes startup{}, per_byte{}, upper_bound{};
    Lanes P{}, alpha_blk{}, delta{}, beta{}, gamma{}, reduce_slots{}, broadcast_slots{};
  };
  [[nodiscard]] static bool takes(const Row& row, const PreparedForm::Candidate& candidate);
  static void set_lane(std::size_t lane, const PreparedForm::Candidate& candidate, Row& row);
  static void row_at(const Row& row, double bytes, Lanes& seconds, Lanes& upper_bound);
  static void row_least(const Row& row, double bytes, Lanes& port_free, Lanes& block_ready);

  std::vector<Row> rows_; // [candidate]
};

} // namespace stepsim::collectives
