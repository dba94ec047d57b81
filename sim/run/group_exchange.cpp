#include "run/group_exchange.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "base/error.hpp"
#include "collectives/algorithms.hpp"
#include "collectives/formula/lower_bound.hpp"
#include "links/fabric/placement.hpp"
#include "nccl/library_record.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/keys/communication_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

// The first of the groups, on its hosts.
auto fabric_of(const Cluster& cluster, bool node) {
  auto fabric = std::make_shared<links::RankFabric>(*cluster.fabric);
  const JoinedNodes joined = joined_nodes(cluster);
  const auto stride = static_cast<std::size_t>(node ? 1 : joined.gpus);
  const auto count = static_cast<std::size_t>(node ? joined.gpus : joined.nodes);
  fabric->hosts.clear();
  for (std::size_t i = 0; i < count; ++i) {
    fabric->hosts.push_back(cluster.fabric->hosts[i * stride]);
  }
  return fabric;
}

// The collective of a group: one level of links, and an algorithm that needs no more.
collectives::Collective collective_of(const Scenario& scenario, RankGroup group) {
  collectives::Collective collective = exchange_of(scenario);
  if (group == RankGroup::all) {
    return collective;
  }
  const Cluster& cluster = scenario.cluster;
  const bool node = group == RankGroup::node;
  const JoinedNodes joined = joined_nodes(cluster);
  collective.ranks = static_cast<std::uint32_t>(node ? joined.gpus : joined.nodes);
  collective.links.two_level.reset();
  if (node) {
    collective.links.all = cluster.intra.value_or(collectives::LinkCost{});
  }
  if (is_simulated(scenario)) {
    collective.links.fabric = fabric_of(cluster, node);
  }
  const collectives::AlgorithmId id = collective.algorithm;
  const bool automatic = id == collectives::AlgorithmId::automatic;
  if (!automatic &&
      (collectives::is_two_level(id) || !collectives::takes_ranks(id, collective.ranks))) {
    collective.algorithm = collectives::AlgorithmId::ring;
  }
  if (automatic) {
    std::erase_if(collective.options.candidates, collectives::is_two_level);
  }
  return collective;
}

nccl::LibraryQuestion question_of(const Scenario& scenario, RankGroup group, collectives::Op op) {
  nccl::LibraryQuestion question = *scenario.communication.question;
  question.operation = collectives::operation_of(op);
  const Cluster& cluster = scenario.cluster;
  const JoinedNodes joined = joined_nodes(cluster);
  if (group == RankGroup::node) { // of the machines of a domain
    question.shape = {static_cast<std::uint32_t>(cluster.nodes / joined.nodes),
                      static_cast<std::uint32_t>(cluster.gpus_per_node)};
  } else if (group == RankGroup::replica) { // one rank of each domain
    question.shape = {static_cast<std::uint32_t>(joined.nodes), 1};
    question.node.domain_nodes = 1;
    question.node.nic_Bps /= static_cast<double>(joined.gpus_per_nic());
  }
  return question;
}

} // namespace

programs::Group rank_group(const Cluster& cluster, RankGroup group) {
  const JoinedNodes joined = joined_nodes(cluster);
  const auto nodes = static_cast<std::uint32_t>(joined.nodes);
  const auto gpus = static_cast<std::uint32_t>(joined.gpus);
  const bool node = group == RankGroup::node;
  programs::Group parts{
      .name = node                          ? "node"
              : group == RankGroup::replica ? "replica"
                                            : "all",
      .parts = std::vector<std::vector<std::uint32_t>>(node                          ? nodes
                                                       : group == RankGroup::replica ? gpus
                                                                                     : 1)};
  for (std::uint32_t rank = 0; rank < nodes * gpus; ++rank) {
    const std::uint32_t part = node ? rank / gpus : group == RankGroup::replica ? rank % gpus : 0;
    parts.parts[part].push_back(rank);
  }
  return parts;
}

GroupExchanges::GroupExchanges(const Scenario& scenario, RankGroup group, collectives::Op op)
    : scenario_(scenario), group_(group), op_(op), collective_(collective_of(scenario, group)) {
  const bool library = scenario.communication.question.has_value();
  const bool measured = group != RankGroup::node && has_curve(scenario) && !library;
  if (group == RankGroup::replica && !library) {
    sharing_ = static_cast<double>(joined_nodes(scenario.cluster).gpus_per_nic());
  }
  std::erase_if(collective_.options.candidates, [op](collectives::AlgorithmId id) {
    return collectives::find_algorithm(op, id) == nullptr;
  });
  const bool offered = collective_.algorithm == collectives::AlgorithmId::automatic ||
                       collectives::find_algorithm(op, collective_.algorithm) != nullptr;
  halved_ = op != collectives::Op::allreduce && (measured || (!offered && !library));
  collective_.op = halved_ || !offered ? collectives::Op::allreduce : op;
  times_.emplace(collective_, scenario.method, curve());
  const bool slowed = scenario.training.overlap.any(); // a start-up is told apart
  if (collective_.ranks > 1 && !has_curve(scenario) && (slowed || !collective_.links.fabric)) {
    line_ = startup_line();
  } else if (measured) {
    line_ = *scenario.cluster.network.curve;
  }
}

buckets::Cost GroupExchanges::startup_line() const {
  if (collective_.links.fabric && scenario_.cluster.topology.is_null()) {
    collectives::Collective flat = collective_of(on_alpha_beta(scenario_), group_);
    flat.op = collective_.op;
    flat.options = collective_.options;
    return programs::planner_cost(flat);
  }
  const buckets::Cost cost = programs::planner_cost(collective_);
  return collective_.links.fabric ? buckets::Cost{.base = tangent(cost, mean_message(scenario_))}
                                  : cost;
}

std::optional<buckets::Cost> GroupExchanges::curve() const {
  if (collective_.ranks == 1) {
    return has_curve(scenario_) ? std::optional(buckets::Cost{}) : std::nullopt;
  }
  if (scenario_.communication.question) {
    try {
      const auto cost =
          std::make_shared<const nccl::LibraryCost>(question_of(scenario_, group_, op_));
      return buckets::Cost{
          .base = buckets::CurveCost{[cost](double bytes) { return cost->seconds(bytes); }}};
    } catch (const UsageError& error) {
      throw SimulationError("the library has no " + std::string(collectives::name(op_)) + ": " +
                            error.what());
    }
  }
  return group_ == RankGroup::node ? std::nullopt : scenario_.cluster.network.curve;
}

// Latency of an exchange, known where its cost is a line.
double GroupExchanges::startup(double seconds) {
  const auto* line = line_ ? std::get_if<buckets::LinearCost>(&line_->base) : nullptr;
  return line != nullptr ? std::min(line->startup_s * (halved_ ? 0.5 : 1), seconds) : 0;
}

// The seconds of an exchange that its additions take: 0 where a measured curve or the model of a
// library gives the time.
double GroupExchanges::reduction(Bytes bytes, const programs::Exchange& exchange) {
  if (!(collective_.reduction_s_per_byte > 0) || curve()) {
    return 0;
  }
  if (!free_) {
    collectives::Collective collective = collective_;
    collective.reduction_s_per_byte = 0;
    collective.algorithm = exchange.algorithm;
    free_.emplace(collective, scenario_.method, std::nullopt);
  }
  return std::max(0.0, exchange.seconds - free_->seconds(bytes));
}

// Ranks of one host talk over the inner link, whatever the levels of the algorithm.
collectives::Collective GroupExchanges::sent(double bytes,
                                             collectives::AlgorithmId algorithm) const {
  collectives::Collective collective = collective_;
  collective.op = op_;
  collective.algorithm = collectives::find_algorithm(op_, algorithm) != nullptr
                             ? algorithm
                             : collectives::AlgorithmId::ring;
  collective.bytes = std::ceil(bytes);
  collective.links.two_level = exchange_of(scenario_).links.two_level;
  return collective;
}

Bytes GroupExchanges::size(double bytes) const {
  return {static_cast<std::int64_t>(std::ceil(bytes * sharing_))};
}

GroupExchange GroupExchanges::times(double bytes) {
  GroupExchange result;
  if (!(bytes > 0)) {
    return result;
  }
  const double seconds = (halved_ ? 0.5 : 1) * times_->seconds(size(bytes));
  const bool sends = seconds > 0;
  const double start = startup(seconds);
  const buckets::LinearCost extra = extra_cost(scenario_);
  const double copies = scenario_.communication.copy_bandwidth_Bps;
  // An exchange of a single rank has no synchronisation and nothing to copy.
  const double moved = sends ? extra.per_byte_s * bytes + (copies > 0 ? 2 * bytes / copies : 0) : 0;
  result.beside = {.startup = {sends ? extra.startup_s : 0}, .data = {moved}};
  result.time = {.startup = {start + result.beside.startup.value},
                 .data = {seconds - start + moved}};
  return result;
}

GroupExchange GroupExchanges::operator()(double bytes) {
  GroupExchange result = times(bytes);
  if (!(bytes > 0)) {
    return result;
  }
  const programs::Exchange& exchange = (*times_)(size(bytes));
  result.reduction_s = (halved_ ? 0.5 : 1) * reduction(size(bytes), exchange);
  if (is_simulated(scenario_) && collective_.ranks > 1) {
    result.sent = sent(bytes, exchange.algorithm);
  }
  result.bytes_sent = (collective_.op == op_ ? 1 : 0.5) * exchange.max_bytes_sent / sharing_;
  const bool library_names = scenario_.communication.question && collective_.ranks > 1;
  result.algorithm = library_names ? library_pair(question_of(scenario_, group_, op_), bytes)
                     : scenario_.communication.calibrated
                         ? std::string(keys::kCalibrated)
                         : std::string(collectives::name(exchange.algorithm));
  return result;
}

} // namespace stepsim::study
