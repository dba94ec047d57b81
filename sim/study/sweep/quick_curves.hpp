#pragma once
// The messages of QuickRun where an exchange does not take a + b n: a collective in blocks, or the
// cheapest of several (`auto`). Every lane has the prepared closed form of its network
// (collectives/formula/prepared_form.hpp); a size is timed on all networks at once.

#include "buckets/batch.hpp"
#include "collectives/formula/prepared_form.hpp"

namespace stepsim::study {

// The loops of QuickRun over messages and layers: kBatchLanes points in lockstep, one vector lane
// each. Lanes without a point hold any numbers. Seconds and bytes.

using Lanes = buckets::BatchLanes;

// The exchange of n bytes takes startup + per_byte n, of which the parts are latency,
// bandwidth n and reduction n.
struct LaneCosts {
  Lanes startup{}, per_byte{};
  Lanes latency{}, bandwidth{}, reduction{};
  Lanes ranks{};
};

// Sums over the messages of a plan.
struct LaneTotals {
  Lanes channel_end{}, communication{};
  Lanes latency{}, bandwidth{}, reduction{}, wire{};
};

// Sends messages one after the other and returns the sums without `wire`; end_s[g] is when message
// g ends.
[[nodiscard]] LaneTotals send_in_lockstep(std::span<const double> ready_s,
                                          std::span<const double> bytes, const LaneCosts& costs,
                                          std::span<Lanes> end_s);

// Sends one message, which takes seconds[k] on lane k, behind those before it: updates channel_end
// and communication of `totals`, and sets when it ends.
void send_timed(double ready_s, const Lanes& seconds, LaneTotals& totals, Lanes& end_s);

// The next forward pass from the times `start_s`: layer l waits for row row_of[l] of `done_s`, or
// for nothing where that is negative, is updated and computed. Returns when it ends.
[[nodiscard]] Lanes forward_in_lockstep(const Lanes& start_s, std::span<const double> update_s,
                                        std::span<const double> forward_s,
                                        std::span<const std::int32_t> row_of,
                                        std::span<const Lanes> done_s);

class QuickCurves {
public:
  // Forgets all networks and messages.
  void clear();
  // Sets the network of a lane; false if its closed form cannot be used here.
  [[nodiscard]] bool set(std::size_t lane, const collectives::Collective& exchange);

  // Sends messages one after the other on all lanes, of which one must be set; end_s[g] is when
  // message g ends. Of the sums only channel_end and communication are set.
  [[nodiscard]] LaneTotals send(std::span<const double> ready_s, std::span<const double> bytes,
                                std::span<Lanes> end_s);
  // The parts of messages of these sizes on a lane (PreparedForm::parts()).
  [[nodiscard]] auto parts(std::size_t lane, std::span<const double> bytes) const {
    return forms_[lane]->parts(bytes);
  }
  // A message of `bytes` on one lane.
  collectives::PreparedForm::Answer send(std::size_t lane, double bytes);
  // The algorithm of message g of send(), and of any message, on one lane.
  [[nodiscard]] collectives::AlgorithmId algorithm_of(std::size_t lane, std::size_t g) const {
    return lanes_.algorithm(static_cast<std::size_t>(candidate_[g][lane]));
  }
  [[nodiscard]] collectives::AlgorithmId algorithm(std::size_t lane, double bytes) const {
    return forms_[lane]->at(bytes).algorithm;
  }
  // Whether the form of a message of send() on a lane was an upper bound.
  [[nodiscard]] bool has_bound(std::size_t lane) const { return bound_[lane] > 0; }

private:
  std::array<std::optional<collectives::PreparedForm>, buckets::kBatchLanes> forms_;
  collectives::FormLanes lanes_;
  Lanes bound_{};                // how many forms were upper bounds
  std::vector<Lanes> candidate_; // [message] of the first send()
};

// Takes a closed form a + b n apart into latency, bandwidth and reduction, as run/verdict.cpp
// does, for many networks in a row.

// The exchange of n bytes takes latency + (bandwidth + reduction) n. Seconds; seconds per byte.
struct FormParts {
  double latency_s{}, bandwidth_s_per_byte{}, reduction_s_per_byte{};
};

// Not thread-safe.
class PartsOfForms {
public:
  // `whole` is the closed form of `probe`, has a startup and a cost per byte, and is no upper
  // bound. All calls must have the same algorithm, options and reduction rate. The costs of `probe`
  // may be overwritten and are not restored.
  [[nodiscard]] FormParts operator()(collectives::Collective& probe,
                                     const collectives::ClosedForm& whole);

private:
  std::uint32_t ranks_{}; // of the last call; 0: there was none
  collectives::LinkCost link_;
  FormParts parts_;
};

} // namespace stepsim::study
