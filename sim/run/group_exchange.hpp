#pragma once
// The time of a collective among a part of the ranks: all ranks, the neighbouring ranks that share
// one copy, which are those of a node unless shard_ranks says otherwise, or the replicas, which are
// one rank of every copy (TRN 2.1). It is computed with the scenario's
// algorithm and evaluator, measured curve or library model. A measured curve is not used among the
// ranks of one node, and an algorithm over nodes becomes a ring among a part of the ranks that lies
// inside a node or has one rank of each. A
// reduce_scatter or allgather takes half the time of the all-reduce if the algorithm does not have
// the operation, or if the time is from a measured curve and the calibration has none of this
// operation among all ranks (measured_half()). A broadcast goes down chains of all ranks if the
// algorithm does not have it; by a measured curve of P ranks it takes P / (2 (P - 1)) of the
// all-reduce, as the bytes of a chain are to those of a ring, unless the network has a curve of
// broadcasts.

#include "run/scenario_program.hpp"

namespace stepsim::study {

// The parts of the ranks, here for S ranks that share one copy and nodes of G. An NVLink domain is
// one node (node_counts.hpp).
//
//     S      node: a part has                  replica: a part has
//     <= G   S ranks of one node               G / S ranks of every node, S parts a node
//     > G    all ranks of S / G nodes          a rank of one node in S / G, G parts a node
//
// The replica parts of a node share its network cards.
enum class RankGroup { all, node, replica };

// The parts of a group: one part of all ranks (all), one part per copy (node), or one part per
// place in a copy (replica). It is called shard, not node, if a copy is not on one whole node.
[[nodiscard]] programs::Group rank_group(const Scenario& scenario, RankGroup group);

// The collective of a part. Inside a node and among single ranks of nodes there is one level of
// links, and an algorithm that needs no more.
[[nodiscard]] collectives::Collective collective_of(const Scenario& scenario, RankGroup group);

struct GroupTimes {
  programs::ExchangeTime time;   // includes sync_s, staging in host memory, buffer copies
  programs::ExchangeTime beside; // the part of `time` that is not on the wire
  // The parts of `time` that start-ups and additions take, also where operations have no start-up.
  double startup_s{}, reduction_s{};
  [[nodiscard]] double seconds() const { return time.startup.value + time.data.value; }
};
struct GroupExchange : GroupTimes {
  std::optional<collectives::Collective> sent; // on a simulated network: the collective to send
  double bytes_sent{};                         // bytes sent by the rank that sends most
  std::string algorithm;
};

// Computes the exchanges of a group by size. Not thread-safe. Throws
// SimulationError if the model of a library does not have the operation.
class GroupExchanges {
public:
  // `op` is allreduce, reduce_scatter, allgather or broadcast, from rank `root`. Ranks that add
  // decode and encode by `codec`. The scenario must outlive the object.
  GroupExchanges(const Scenario& scenario, RankGroup group, collectives::Op op,
                 std::uint32_t root = 0, const ValueCodec& codec = {});
  // The exchange of a vector or buffer of `bytes` on the wire, rounded up. 0 bytes take no time.
  [[nodiscard]] GroupExchange operator()(double bytes);
  // The same, but `exchange` has the bytes and stages already, of an algorithm that is_fixed().
  void renew(double bytes, UnitExchange& exchange);
  // Whether these ranks send the same bytes on every network.
  [[nodiscard]] bool is_fixed() const { return is_fixed_; }
  // Its times alone.
  [[nodiscard]] GroupTimes times(double bytes);
  // Calls ExchangeTimes::share().
  void share(collectives::SentBytes& sent) { times_->share(sent); }
  [[nodiscard]] collectives::Method method() const { return times_->method(); }
  [[nodiscard]] std::uint64_t events() const { return times_->events(); }
  // The warnings that exchanges were only estimated (collectives::estimate_warning), but for those
  // whose times alone were asked for.
  [[nodiscard]] const std::set<std::string>& estimates() const { return estimates_; }

private:
  // The times of an exchange that `times_` gives so many seconds.
  [[nodiscard]] GroupTimes of_seconds(double bytes, double whole_s);
  // The times of an exchange and their parts.
  [[nodiscard]] GroupTimes of_exchange(double bytes, const programs::Exchange& exchange);
  [[nodiscard]] buckets::Cost startup_line();
  [[nodiscard]] std::optional<buckets::Cost> curve() const;
  // Of a message that takes so many seconds.
  [[nodiscard]] double startup(double bytes, double seconds);
  [[nodiscard]] programs::ExchangeSplit& parts(collectives::AlgorithmId algorithm);
  [[nodiscard]] Bytes size(double bytes) const;
  [[nodiscard]] collectives::Collective sent(double bytes,
                                             collectives::AlgorithmId algorithm) const;

  const Scenario& scenario_;
  RankGroup group_;
  bool inside_; // group_ is a part of one node
  collectives::Op op_;
  collectives::Collective collective_;
  std::optional<buckets::Cost> own_; // measured curve of a reduce_scatter or allgather
  double part_ = 1; // of the times of `times_` that is used: below 1 they are those of all-reduces
  double sharing_ = 1;        // number of parts that share a network card
  buckets::LinearCost extra_; // on top of the exchange
  bool has_parts_;            // its time can be taken apart
  bool is_fixed_;
  bool is_line_ = false; // times are those of a line and of its start-up, without additions
  std::optional<programs::ExchangeTimes> times_;
  std::optional<programs::ExchangeSplits> splits_;
  std::optional<buckets::Cost>
      line_; // cost that gives the start-up if it is linear; empty = unknown
  std::set<std::string> estimates_;
};

// Makes the input of the program builders (program/builders): the layers and buckets of a scenario
// with their times.

// The exchange of a unit. If every message is simulated, its operation keeps only the time that is
// not on the wire; otherwise one of a list tells its start-ups from its data, whatever form the
// cost has.
[[nodiscard]] UnitExchange taken(const GroupTimes& times, bool simulated, MadeFor made_for);
[[nodiscard]] UnitExchange taken(const GroupExchange& exchange, bool simulated, MadeFor made_for);
// Adds how exchanges were evaluated to method, events and estimates of the program.
void add_evaluation(const GroupExchanges& exchanges, ScenarioProgram& made);

struct ProgramParts {
  std::vector<programs::LayerTimes> layers; // times of one micro-batch
  std::vector<programs::BucketTimes> buckets{};
  Seconds update; // weight update of an iteration, including the decoding of received gradients
  programs::NextForward next_forward{};
  std::vector<std::uint32_t> layer_of{}; // [layer of the workload]: the one of `layers` it is in
};

// The parts for buckets that are all-reduced, or exchanged in two halves (DeAR, reduce and
// broadcast). Sets plan, units, gates, method and events of `out`, whose `simulated` must be set
// before.
[[nodiscard]] ProgramParts allreduced_parts(const Scenario& scenario, ScenarioProgram& out);

// These time the exchanges of all units by the network of the scenario, and set method and events:
// those of buckets, which also get their costs, and those of sharding units or of the buckets of
// ZeRO-1 and ZeRO-2.
void time_buckets(const Scenario& scenario, ScenarioProgram& made);
void time_shards(const Scenario& scenario, ScenarioProgram& made);

// The parts for the same buckets in ZeRO-1 and ZeRO-2: each has a reduce-scatter of its gradients
// and an all-gather of its parameters. Sets the same members of `out`.
[[nodiscard]] ProgramParts scattered_parts(const Scenario& scenario, ScenarioProgram& out);

// The same parts with neighbouring layers as one wherever no exchange begins or is awaited between
// them. The times of a program are the same, but for rounding, and it has fewer operations.
// `slowed_alike`: messages under way slow updates as much as forward, or neither. Else both keep
// their places. `one_forward`: no layer waits for an exchange in its forward, which is one for all.
[[nodiscard]] ProgramParts with_merged_layers(ProgramParts parts, bool slowed_alike,
                                              bool one_forward);

} // namespace stepsim::study
