#pragma once
// Computes the summary of `run` for points of a sweep that differ in nodes, latency and bandwidth
// only, and whose exchange of n bytes has a closed form: a + b n, or a prepared one
// (collectives/formula/prepared_form.hpp). Values that do not depend on the network (gradients,
// buckets that depend on bytes only, sums of the step) are computed once; a point then takes one
// pass over its messages and one over its layers. All numbers are those of `run` but for rounding.
// Times in seconds, from the start of backward.
//
//   next forward   t = t_b; for l = 1..L: t = max(t, done(l)) + u(l) + t_f(l);  period = t
//
// Here t_b is the time of backward, u(l) the update and t_f(l) the forward of layer l, and done(l)
// the end of the layer's last message. Behind a barrier the whole update follows the last message.
// Every message of an iteration ends before the next backward starts, so that all periods are
// equal.

#include "buckets/sending.hpp"
#include "run/memory_figures.hpp"
#include "run/verdict.hpp"

namespace stepsim::study {

// The network of one point: the number of nodes (machines), and latency [s] and bandwidth [bytes/s]
// between nodes.
struct QuickPoint {
  std::int64_t nodes{};
  double latency_s{};
  double bandwidth_Bps{};
};
// Puts the network of a point into a cluster of equal nodes; `block_follows`: the block latency is
// the latency. False if a run would refuse it: too many ranks, or a latency below the block
// latency.
[[nodiscard]] bool set_network(const QuickPoint& point, bool block_follows, Cluster& cluster);

class QuickRun {
public:
  // Null if the scenario cannot take the quick path (takes_quick_way()), for example because it has
  // a measured curve, copies, or an algorithm or planner that is not supported here. `first` may
  // have the network of any point. `block_follows` means that the scenario gives no block latency,
  // which then follows the latency of the point.
  [[nodiscard]] static std::unique_ptr<QuickRun> make(const Scenario& first, bool block_follows);

  // Sets the summary of a point. False for a point that cannot take the quick path, as are all
  // points that fail; its summary is then undefined.
  [[nodiscard]] bool run(const QuickPoint& point, Summary& summary);

  // The scenario with the network of the last point.
  [[nodiscard]] const Scenario& scenario() const { return scenario_; }
  // Of the points: messages that a run sends by events have that method unless one is asked for.
  [[nodiscard]] collectives::Method method() const;
  // Whether nothing but a point that fails is left to others. Else the form of some points may be
  // an upper bound, for which a run evaluates the schedule.
  [[nodiscard]] bool takes_all() const { return !has_curve_; }
  // The warnings that `run` gives for the last point, but that of an upper bound.
  [[nodiscard]] const std::vector<std::string>& warnings() const {
    return scenario_.cluster.ranks() == 1 ? warnings_alone_ : warnings_;
  }

private:
  struct Message {
    double ready_s{}, bytes{};
    double start_s{}, end_s{};
    double data_s{}; // behind the start-up; set where messages are not sent in turn
  };
  struct Period {
    double exposed{}, period{}, input_wait{};
  };

  explicit QuickRun(const Scenario& scenario);
  void take_messages();
  [[nodiscard]] bool set_costs(const QuickPoint& point);
  [[nodiscard]] bool plan_messages(Summary& summary);
  [[nodiscard]] double most_sent(collectives::AlgorithmId algorithm, double bytes);
  void send_in_turn();
  void send_transfers(Summary& summary);
  void compute_forward();
  [[nodiscard]] double chained_s();
  [[nodiscard]] Period period_of(double end) const;
  [[nodiscard]] std::string_view largest_part() const;
  [[nodiscard]] bool summarize(Summary& summary);

  Scenario scenario_; // its network is set for every point
  const buckets::Planner& planner_;
  bool block_follows_ = true;
  buckets::Problem problem_;
  std::vector<std::string> warnings_, warnings_alone_;
  MemoryParts memory_, memory_alone_; // of a worker among others, and of one alone
  WorkSums sums_;
  double slowdown_ = 1; // least_slowdown()

  std::vector<double> before_s_; // [layer]: of updates and forward of the layers before it; the sum
  double forward_total_s_, backward_s_, update_s_, input_s_;
  bool input_pipelined_;
  bool barrier_; // the next forward waits for all messages, not for those of each layer
  double alone_period_s_{};

  bool is_static_{};    // the buckets do not depend on the cost of messages (Planner::reads_cost)
  bool in_turn_{};      // messages are sent one at a time; else the planner sends them itself
  bool has_curve_{};    // the exchange is no a + b n
  bool is_split_{};     // start-ups are all latency, and what bytes take is all bandwidth
  bool takes_bounds_{}; // the run takes closed forms that are upper bounds
  using Ranks = std::int64_t;
  // most_sent() by algorithm, ranks and bytes, and that of all messages of static ones by one
  // algorithm.
  std::map<std::pair<collectives::AlgorithmId, Ranks>, std::map<double, double>> sent_;
  std::map<Ranks, double> sent_in_all_;

  // Of the last point, or of all points if is_static_.
  buckets::Plan plan_;
  std::vector<Message> messages_;          // in launch order
  std::vector<std::int32_t> last_message_; // [layer]: its last message; -1: none to wait for

  // Of the last point.
  double startup_s_{}, per_byte_s_{}; // of an exchange, if it is a + b n
  std::optional<collectives::PreparedForm> form_;
  std::map<double, collectives::PreparedForm::Answer> answers_; // of the form, by bytes
  bool has_bound_{}; // the form of a message was an upper bound
  double channel_end_s_{}, communication_s_{}, wire_bytes_{};
  double forward_end_s_{};
  double waits_until_s_{}; // end of the last message that the next forward waits for; 0: none

  // Working memory, kept between calls.
  buckets::Sending sending_;
  buckets::SendTimes times_;
  std::vector<double> ready_s_;
  std::vector<Message> chain_;
};

// Decides which scenarios of a sweep the two fast paths support: QuickRun, and SharedRun
// (sweep_point.hpp). All other points are parsed and run one by one, so that a condition that is
// too strict costs time but no correctness.

// Whether QuickRun supports the scenario, with any latency, bandwidth and number of nodes:
// synchronous dense training of equal workers, whose exchange of n bytes may have a closed form, a
// + b n or a prepared one. QuickRun checks the form.
[[nodiscard]] bool takes_quick_way(const Scenario& scenario);

// Whether SharedRun supports the scenario: the scenarios of points with another latency, bandwidth
// or number of nodes (two or more) differ in these numbers only. This holds on alpha-beta links for
// every training algorithm whose settings do not follow from the number of ranks.
[[nodiscard]] bool shares_scenario(const Scenario& scenario);

} // namespace stepsim::study
