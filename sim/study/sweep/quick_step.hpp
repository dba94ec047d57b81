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

#include "buckets/sending.hpp"
#include "run/result.hpp"
#include "study/sweep/quick_curves.hpp"

namespace stepsim::study {

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

  // The first gradient of `scenario` is ready at `first_ready_s`; every gradient has bytes.
  QuickStep(const Scenario& scenario, double first_ready_s);

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
  // PeriodBounds::with_slowest() where an exchange of n bytes takes startup + per_byte n, and all
  // messages under way at the same time together move data at most 1 / slowdown times as fast as
  // one message alone (buckets::least_slowdown()).
  [[nodiscard]] double lower_bound(double startup_s, double per_byte_s, double slowdown) const;

  // Sets what a summary says of the times of the step and of its messages on lane k. False if the
  // run takes more simulated time than the scenario allows.
  [[nodiscard]] bool summarize(const Scenario& scenario, const Period& step,
                               const LaneTotals& totals, std::size_t k, std::int64_t workers,
                               Summary& summary) const;

private:
  std::vector<double> forward_s_, update_share_s_; // [layer]
  double forward_total_s_, backward_s_, update_s_, input_s_;
  bool input_pipelined_, barrier_;
  double total_bytes_, first_ready_s_;
  double first_layer_bytes_{}, alone_period_s_{};
};

// The messages of one point of QuickRun under a schedule that does not send them one at a time
// (asc_wfbp, priority). They are sent by the function of the schedule, one point after
// another.

class QuickTransfers {
public:
  // `planner` must outlive the object.
  QuickTransfers(const buckets::Planner& planner, const buckets::ScheduleOptions& options);

  // Takes over the buckets of a plan of the gradients of `workload`.
  void set_plan(const buckets::Plan& plan, const layers::Workload& workload);
  // Sends them at the costs of a lane. Sets the end of each layer's last message, and of `totals`
  // channel_end and communication; adds to its latency, bandwidth and reduction, and leaves wire.
  void send(const LaneCosts& costs, std::size_t lane, std::span<Lanes> layer_end_s,
            LaneTotals& totals);
  // The messages as they were last sent.
  [[nodiscard]] std::vector<Sent> sent() const;
  [[nodiscard]] std::size_t size() const { return ready_s_.size(); }
  [[nodiscard]] double bytes(std::size_t message) const {
    return sending_.transfers[message].bytes;
  }

private:
  const buckets::Planner& planner_;
  buckets::Sending sending_;
  buckets::SendTimes times_;
  std::vector<double> ready_s_;         // [message]
  std::vector<std::uint32_t> layers_;   // of all messages, one list after another
  std::vector<std::size_t> layers_end_; // [message]: end of its list
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
