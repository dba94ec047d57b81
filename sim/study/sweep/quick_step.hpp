#pragma once
// The step of QuickRun around its messages: compute, update and input, which are the same on every
// network, and the parts of the summary that follow from them. Times in seconds, from the start of
// backward.
//
//   next forward   t = t_b; for l = 1..L: t = max(t, done(l)) + u(l) + t_f(l);  period = t
//
// Here t_b is the time of backward, u(l) the update and t_f(l) the forward of layer l, and done(l)
// the end of the layer's last message. Behind a barrier the whole update follows the last message.
// Every message of an iteration ends before the next backward starts, so that all periods are
// equal.

#include "buckets/batch.hpp"
#include "collectives/formula/prepared_form.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// The loops of QuickRun over messages and layers: kBatchLanes points in lockstep, one vector lane
// each. Lanes without a point hold any numbers. Seconds and bytes.

using Lanes = buckets::BatchLanes;

// The exchange of n bytes takes startup + per_byte n.
struct LaneCosts {
  Lanes startup{}, per_byte{};
  Lanes ranks{};
};

// Sums over the messages of a plan.
struct LaneTotals {
  Lanes channel_end{}, communication{}, wire{};
};

// Sends one message behind those before it: updates channel_end and communication of `totals`, and
// sets when it ends.
void send_message(double ready_s, double bytes, const LaneCosts& costs, LaneTotals& totals,
                  Lanes& end_s);

// The next forward pass from the times `start_s`: layer l waits for row row_of[l] of `done_s`, or
// for nothing where that is negative, is updated and computed. Returns when it ends.
[[nodiscard]] Lanes forward_in_lockstep(const Lanes& start_s, std::span<const double> update_s,
                                        std::span<const double> forward_s,
                                        std::span<const std::int32_t> row_of,
                                        std::span<const Lanes> done_s);

// The messages of QuickRun where an exchange does not take a + b n: a collective in blocks, or the
// cheapest of several (`auto`). Every lane has the prepared closed form of its network
// (collectives/formula/prepared_form.hpp); a size is timed on all networks at once.
class QuickCurves {
public:
  // Forgets all networks and messages.
  void clear();
  // Sets the network of a lane; false if its closed form cannot be used here.
  [[nodiscard]] bool set(std::size_t lane, const collectives::Collective& exchange);

  // Sets how long message g, of `bytes`, takes on all lanes, of which one must be set.
  void time(std::size_t g, double bytes, Lanes& seconds);
  // The parts of messages of these sizes on a lane (PreparedForm::parts()).
  [[nodiscard]] auto parts(std::size_t lane, std::span<const double> bytes) const {
    return forms_[lane]->parts(bytes);
  }
  // A message of `bytes` on one lane.
  collectives::PreparedForm::Answer send(std::size_t lane, double bytes);
  // The algorithm of message g of time(), and of any message, on one lane.
  [[nodiscard]] collectives::AlgorithmId algorithm_of(std::size_t lane, std::size_t g) const {
    return message_[g]->algorithm[lane];
  }
  [[nodiscard]] collectives::AlgorithmId algorithm(std::size_t lane, double bytes) const {
    return forms_[lane]->at(bytes).algorithm;
  }
  // Whether the form of a message on a lane was an upper bound.
  [[nodiscard]] bool has_bound(std::size_t lane) const { return bound_[lane] > 0; }

private:
  std::array<std::optional<collectives::PreparedForm>, buckets::kBatchLanes> forms_;
  Lanes bound_{}; // how many forms were upper bounds
  struct Timed {
    Lanes seconds{}, bound{};
    std::array<collectives::AlgorithmId, buckets::kBatchLanes> algorithm{};
  };
  std::map<double, Timed> timed_;       // [bytes] of time()
  std::vector<const Timed*> message_{}; // [message] of time()
};

// A message under way.
struct Sent {
  double start_s{}, end_s{};
};
// Seconds of the messages that follow each other without a gap and end at `until_s`: the last one
// that the next forward waits for, the one that kept the channel busy before it, and so on. 0 if
// none ends then.
[[nodiscard]] double chained_s(std::vector<Sent> messages, double until_s);

class QuickStep {
public:
  struct Period {
    double exposed{}, period{}, input_wait{};
  };

  // Every gradient of `scenario` has bytes.
  explicit QuickStep(const Scenario& scenario);

  // Behind a barrier the next forward waits for all messages, not for those of each layer.
  [[nodiscard]] bool barrier() const { return barrier_; }
  // End of the next forward, per lane. `done` has the rows that layers wait for (row_of[layer]);
  // behind a barrier layers wait for nothing more.
  [[nodiscard]] Lanes next_forward(const Lanes& channel_end, std::span<const std::int32_t> row_of,
                                   std::span<const Lanes> done) const;
  // When the last message ends that the next forward waits for on lane k; 0 if it waits for none.
  [[nodiscard]] double waits_until(std::size_t k, double channel_end,
                                   std::span<const std::int32_t> row_of,
                                   std::span<const Lanes> done) const;
  // The period of a step whose next forward ends at `end`.
  [[nodiscard]] Period period_of(double end) const;
  // Sets what a summary says of the times of the step and of its messages on lane k. False if the
  // run takes more simulated time than the scenario, which has the network of the lane, allows.
  [[nodiscard]] bool summarize(const Scenario& scenario, const Period& step,
                               const LaneTotals& totals, std::size_t k, Summary& summary) const;

private:
  std::vector<double> forward_s_, update_share_s_; // [layer]
  double forward_total_s_, backward_s_, update_s_, input_s_;
  bool input_pipelined_, barrier_;
  double alone_period_s_{};
};

// The largest number of bytes that any rank sends in one exchange of gradients, cached by size and
// number of ranks.

class WireBytes {
public:
  // The bytes that the rank that sends most sends in the exchange of `scenario` by `algorithm`,
  // with `bytes` bytes among `ranks` ranks; 0 for one rank. All calls must give the same scenario,
  // because the cache does not tell scenarios apart.
  [[nodiscard]] double most(const Scenario& scenario, collectives::AlgorithmId algorithm,
                            double bytes, double ranks);

  // The sum of most() over the messages g of `bytes[g]` bytes: total() by the algorithm of the
  // scenario, total_by() by algorithm_of(g). All calls of one object must give the same `bytes`,
  // because the caches are not keyed by them.
  [[nodiscard]] double total(const Scenario& scenario, std::span<const double> bytes, double ranks);
  [[nodiscard]] double
  total_by(const Scenario& scenario,
           const std::function<collectives::AlgorithmId(std::size_t message)>& algorithm_of,
           std::span<const double> bytes, double ranks);

private:
  std::map<double, double> totals_; // key: number of ranks
  // [message] by algorithm and number of ranks; no number where it is not known yet.
  std::map<std::pair<collectives::AlgorithmId, double>, std::vector<double>> messages_;
  // Key: algorithm, number of ranks, bytes.
  std::map<std::tuple<collectives::AlgorithmId, double, double>, double> known_;
};

} // namespace stepsim::study
