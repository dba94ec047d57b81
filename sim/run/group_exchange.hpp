#pragma once
// How long a collective takes among a part of the ranks: all of them, those of one node, or the
// replicas, one rank of every node (TRN 2.1). The scenario's algorithm, evaluator, measured curve
// or library model answers; an algorithm that has no reduce_scatter or allgather of its own, and a
// measured curve, which knows whole all-reduces, count half of the all-reduce.
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "coll/collective.hpp"
#include "plan/cost.hpp"
#include "program/builders/step_parts.hpp"
#include "scenario/scenario.hpp"
#include "train/step/exchange_times.hpp"

namespace stepsim::study {

// Of the G ranks of a node each has a replica group; they share its cards.
enum class RankGroup { all, node, replica };

// The parts of a group: the ranks of every node, or those with the same place in every node; one
// part with RankGroup::all.
[[nodiscard]] program::Group rank_group(const Cluster& cluster, RankGroup group);

struct GroupExchange {
  program::ExchangeTime time;           // with sync_s, and copies through host memory and buffers
  program::ExchangeTime beside;         // of it, what is not on the wire
  std::optional<coll::Collective> sent; // on a simulated network: what is on the wire
  double bytes_sent{};                  // by the rank that sends most
  std::string algorithm;
  [[nodiscard]] double seconds() const { return time.startup.value + time.data.value; }
};

// Costs by size, each size evaluated once. Not thread-safe. Throws SimulationError where the
// library does not have the operation.
class GroupExchanges {
public:
  // `op`: allreduce, reduce_scatter or allgather. The scenario must outlive the object.
  GroupExchanges(const Scenario& scenario, RankGroup group, coll::Op op);
  // `bytes`: of the whole vector or buffer, rounded up; none take no time.
  [[nodiscard]] GroupExchange operator()(double bytes);
  [[nodiscard]] coll::Method method() const { return times_->method(); }
  [[nodiscard]] std::uint64_t events() const { return times_->events(); }

private:
  [[nodiscard]] std::optional<plan::Cost> curve() const;
  [[nodiscard]] double startup(double seconds);
  [[nodiscard]] coll::Collective sent(double bytes, coll::AlgorithmId algorithm) const;

  const Scenario& scenario_;
  RankGroup group_;
  coll::Op op_;
  coll::Collective collective_;
  bool halved_ = false; // `times_` are those of an all-reduce
  double sharing_ = 1;  // groups that share a card
  std::optional<train::ExchangeTimes> times_;
  std::optional<plan::Cost> line_; // of the start-up, where it is linear
};

} // namespace stepsim::study
