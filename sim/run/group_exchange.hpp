#pragma once
// The time of a collective among a part of the ranks: all ranks, the ranks of one node, or the
// replicas, which are one rank of every node (TRN 2.1). It is computed with the scenario's
// algorithm and evaluator, measured curve or library model. A measured curve is not used among the
// ranks of one node, and among a part of the ranks an algorithm over nodes becomes a ring. A
// reduce_scatter or allgather takes half the time of the all-reduce if the algorithm does not have
// the operation, or if the time is from a measured curve, which is for all-reduces.
#include <cstdint>
#include <optional>
#include <string>

#include "buckets/cost.hpp"
#include "collectives/collective.hpp"
#include "programs/builders/step_parts.hpp"
#include "programs/step/exchange_times.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// The parts of the ranks. Each of the G ranks of a node is in another replica part; these G parts
// share the network cards of the node. An NVLink domain is one node (node_counts.hpp).
enum class RankGroup { all, node, replica };

// The parts of a group: one part of all ranks (all), one part per node (node), or one part per
// place in a node (replica).
[[nodiscard]] programs::Group rank_group(const Cluster& cluster, RankGroup group);

struct GroupExchange {
  programs::ExchangeTime time;   // includes sync_s, staging in host memory, buffer copies
  programs::ExchangeTime beside; // the part of `time` that is not on the wire
  std::optional<collectives::Collective> sent; // on a simulated network: the collective to send
  double reduction_s{};                        // the part of `time` that additions take
  double bytes_sent{};                         // bytes sent by the rank that sends most
  std::string algorithm;
  [[nodiscard]] double seconds() const { return time.startup.value + time.data.value; }
};

// Computes the exchanges of a group by size; results are cached. Not thread-safe. Throws
// SimulationError if the model of a library does not have the operation.
class GroupExchanges {
public:
  // `op` is allreduce, reduce_scatter or allgather. The scenario must outlive the object.
  GroupExchanges(const Scenario& scenario, RankGroup group, collectives::Op op);
  // The exchange of a vector or buffer of `bytes` in total, rounded up. 0 bytes take no time.
  [[nodiscard]] GroupExchange operator()(double bytes);
  // Its times alone.
  [[nodiscard]] GroupExchange times(double bytes);
  // Calls ExchangeTimes::share().
  void share(collectives::SentBytes& sent) { times_->share(sent); }
  [[nodiscard]] collectives::Method method() const { return times_->method(); }
  [[nodiscard]] std::uint64_t events() const { return times_->events(); }

private:
  [[nodiscard]] buckets::Cost startup_line() const;
  [[nodiscard]] std::optional<buckets::Cost> curve() const;
  [[nodiscard]] double startup(double seconds);
  [[nodiscard]] Bytes size(double bytes) const;
  [[nodiscard]] double reduction(Bytes bytes, const programs::Exchange& exchange);
  [[nodiscard]] collectives::Collective sent(double bytes,
                                             collectives::AlgorithmId algorithm) const;

  const Scenario& scenario_;
  RankGroup group_;
  collectives::Op op_;
  collectives::Collective collective_;
  bool halved_ = false; // `times_` has all-reduces, of which half the time is used
  double sharing_ = 1;  // number of parts that share a network card
  std::optional<programs::ExchangeTimes> times_;
  // The same exchanges with additions that take no time, by the algorithm of the first exchange.
  std::optional<programs::ExchangeTimes> free_;
  std::optional<buckets::Cost>
      line_; // cost that gives the start-up if it is linear; empty = unknown
};

} // namespace stepsim::study
