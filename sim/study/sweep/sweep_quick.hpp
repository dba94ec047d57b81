#pragma once
// Computes the summary of `run` for many networks at once. This is the quick path of a sweep whose
// points differ in nodes, latency and bandwidth only, and whose exchange of n bytes has a closed
// form: a + b n, or a prepared one (quick_step.hpp). Values that do not depend on the network
// (items, buckets that depend on bytes only, sums of the step) are computed once. The points go
// through the messages together, each in one vector lane. All numbers are those of `run` but for
// rounding.

#include "buckets/sending.hpp"
#include "run/memory_figures.hpp"
#include "run/verdict.hpp"
#include "study/sweep/quick_step.hpp"

namespace stepsim::study {

// The network of one point: the number of nodes (machines), and latency [s] and bandwidth [bytes/s]
// between nodes.
struct QuickPoint {
  std::int64_t nodes{};
  double latency_s{};
  double bandwidth_Bps{};
};

class QuickRun {
public:
  static constexpr std::size_t kLanes = buckets::kBatchLanes;

  // Null if the scenario cannot take the quick path (takes_quick_way()), for example because it has
  // a measured curve, copies, or an algorithm or planner that is not supported here. `first` may
  // have the network of any point. `latency_is_block_latency` means that the scenario gives no
  // block latency, which then follows the latency of the point.
  [[nodiscard]] static std::unique_ptr<QuickRun> make(const Scenario& first,
                                                      bool latency_is_block_latency);

  // Fills the summaries of at most kLanes points. done[i] is false for a point that cannot take the
  // quick path, as are all points that fail; its summary is overwritten and undefined.
  void run(std::span<const QuickPoint> points, std::span<Summary* const> summaries,
           std::span<bool> done);

  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  // Of the points: messages that a run sends by events have that method unless one is asked for.
  [[nodiscard]] collectives::Method method() const;
  // Whether nothing but a point that fails is left to others. Else the form of some points may be
  // an upper bound, for which a run evaluates the schedule.
  [[nodiscard]] bool takes_all() const { return curves_ == nullptr; }
  // The warnings that `run` gives for each of these points; with `alone`, including the warning for
  // a single worker.
  [[nodiscard]] const std::vector<std::string>& warnings(bool alone) const {
    return alone ? warnings_alone_ : warnings_;
  }
  [[nodiscard]] std::int64_t ranks(std::int64_t nodes) const {
    return nodes * scenario_.cluster.gpus_per_node;
  }

private:
  explicit QuickRun(const Scenario& scenario) : scenario_(scenario) {}
  [[nodiscard]] bool set_up();
  [[nodiscard]] bool set_network(const QuickPoint& point);
  [[nodiscard]] bool fill_costs(const QuickPoint& point, std::size_t k, LaneCosts& costs);
  [[nodiscard]] double static_wire(std::size_t k, double ranks);
  [[nodiscard]] bool make_plan(const LaneCosts& costs, std::size_t k, Summary& summary);
  [[nodiscard]] bool send_transfers(const LaneCosts& costs, std::size_t k, LaneTotals& totals,
                                    Summary& summary);
  [[nodiscard]] bool send_runs(const LaneCosts& costs, std::size_t k, LaneTotals& totals,
                               Summary& summary);
  [[nodiscard]] bool summarize(const QuickPoint& point, std::size_t k, const LaneCosts& costs,
                               const LaneTotals& totals, const Lanes& ends, Summary& summary);
  [[nodiscard]] double chained_s(std::size_t k, double channel_end) const;

  Scenario scenario_; // its network is set for every point
  bool block_follows_ = true;
  buckets::Problem problem_;
  buckets::BatchItems items_;
  std::vector<std::string> warnings_, warnings_alone_;
  MemoryParts memory_, memory_alone_; // of a worker among others, and of one alone

  std::optional<QuickStep> step_;
  std::optional<WorkSums> sums_;
  double slowdown_ = 1; // least_slowdown()
  // [layer]: its last gradient in launch order; -1 if it has none, and for all layers if the next
  // forward begins behind a barrier, at which all messages have ended.
  std::vector<std::int32_t> last_item_;

  // The buckets, if they do not depend on the cost of messages (Planner::reads_cost); else empty.
  bool is_static_ = false;
  std::vector<double> group_ready_s_, group_bytes_;
  std::vector<std::int32_t> last_group_; // [layer]: its last bucket, -1 as in last_item_
  std::vector<std::int32_t> layer_row_;  // [layer]: itself, or -1 for all as in last_item_
  WireBytes wire_;

  // Schedules that do not send messages one at a time (asc_wfbp, priority) send them themselves,
  // one point after another.
  bool in_turn_ = true;
  buckets::Sending sending_;
  buckets::SendTimes times_;

  std::unique_ptr<QuickCurves> curves_; // if the exchange is no a + b n: its forms
  // The messages: [lane], or those of all lanes if is_static_.
  std::vector<buckets::Plan> plans_;
  bool is_split_ = false;     // start-ups are all latency, and what bytes take is all bandwidth
  bool takes_bounds_ = false; // the run takes closed forms that are upper bounds

  // Working memory of run(), kept between calls. Rows of lanes: one per message of the plan, per
  // gradient and per layer.
  std::vector<Lanes> group_end_, item_start_, item_end_, layer_end_;
  Lanes chained_{}; // chained_s() of messages that are not sent one at a time
  std::optional<buckets::OptimalBlock> best_;
  struct RunOfItems {
    std::size_t end{}; // one past its last item
    double ready_s{};
  };
  std::vector<RunOfItems> runs_; // messages of one lane, in order
  std::vector<double> ready_s_;  // the same
};

// Decides which scenarios of a sweep the two fast paths support: QuickRun (sweep_quick.hpp), which
// evaluates many points at once, and SharedRun (sweep_point.hpp). All other points are parsed and
// run one by one, so that a condition that is too strict costs time but no correctness.

// Whether QuickRun supports the scenario, with any latency, bandwidth and number of nodes:
// synchronous dense training of equal workers, whose exchange of n bytes may have a closed form, a
// + b n or one of quick_step.hpp. QuickRun checks the form.
[[nodiscard]] bool takes_quick_way(const Scenario& scenario);

// Whether SharedRun supports the scenario: the scenarios of points with another latency, bandwidth
// or number of nodes (two or more) differ in these numbers only. This holds on alpha-beta links for
// every training algorithm whose settings do not follow from the number of ranks.
[[nodiscard]] bool shares_scenario(const Scenario& scenario);

} // namespace stepsim::study
