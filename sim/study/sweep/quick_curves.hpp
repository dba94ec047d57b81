#pragma once
// The messages of QuickRun where an exchange does not take a + b n: a collective in blocks, or the
// cheapest of several (`auto`). Every lane has the prepared closed form of its network
// (collectives/formula/prepared_form.hpp); a size is timed on all networks at once.
#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "buckets/batch.hpp"
#include "buckets/curve_block.hpp"
#include "collectives/formula/form_lanes.hpp"
#include "collectives/formula/prepared_form.hpp"
#include "study/sweep/quick_lanes.hpp"

namespace stepsim::study {

class QuickCurves {
public:
  // `items` must outlive the object.
  explicit QuickCurves(const buckets::BatchItems& items);
  QuickCurves(const QuickCurves&) = delete;
  QuickCurves& operator=(const QuickCurves&) = delete;

  // Forgets all networks and messages.
  void clear();
  // Sets the network of a lane; false if its closed form cannot be used here.
  [[nodiscard]] bool set(std::size_t lane, const collectives::Collective& exchange);
  // Lanes that are not `set` become copies of one that is, so that they cost no time of their own.
  // At least one must be set.
  void fill(std::span<const bool> set);

  // Sends messages one after the other on all lanes; end_s[g] is when message g ends. Of the sums
  // only channel_end and communication are set.
  [[nodiscard]] LaneTotals send(std::span<const double> ready_s, std::span<const double> bytes,
                                std::span<Lanes> end_s);
  // Sets latency and bandwidth of `totals` for the messages of send(), at least one, whose sizes
  // are `bytes`, as largest_part() does for exchanges whose additions cost nothing: all by
  // algorithm and block of the first message. False, with nothing set, if that block is below 1
  // byte on a lane.
  [[nodiscard]] bool set_parts(std::span<const double> bytes, LaneTotals& totals) const;
  // A message of `bytes` on one lane.
  [[nodiscard]] double seconds(std::size_t lane, double bytes);
  // The algorithm of message g of send() on a lane.
  [[nodiscard]] collectives::AlgorithmId algorithm(std::size_t g, std::size_t lane) const {
    return forms_.algorithm(static_cast<std::size_t>(candidate_[g][lane]));
  }
  [[nodiscard]] collectives::AlgorithmId algorithm_of(std::size_t lane, double bytes) const {
    return prepared_[lane]->at(bytes).algorithm;
  }
  // Whether the form of a message of send() or seconds() on a lane was an upper bound.
  [[nodiscard]] bool has_bound(std::size_t lane) const { return bound_[lane] > 0; }

  // The best merges of all lanes.
  void find_best();
  [[nodiscard]] const buckets::CurveBlock& best() const { return best_; }

private:
  const buckets::BatchItems& items_;
  collectives::FormLanes forms_;
  std::array<std::optional<collectives::PreparedForm>, buckets::kBatchLanes> prepared_;
  buckets::CurveBlock best_;
  buckets::LaneCurves curves_;
  std::vector<Lanes> candidate_; // [message] of send()
  Lanes bound_{};
};

} // namespace stepsim::study
