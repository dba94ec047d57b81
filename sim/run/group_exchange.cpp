#include "run/group_exchange.hpp"

#include "collectives/schedule/ring_rails.hpp"
#include "collectives/validate.hpp"
#include "scenario/keys/communication_keys.hpp"
#include "scenario/node_counts.hpp"
#include "scenario/scenario_library.hpp"
#include "scenario/scenario_training.hpp"

namespace stepsim::study {

namespace {

// Neighbouring ranks that share one copy.
std::int64_t copy_ranks(const Scenario& scenario) {
  return scenario.training.sharding.strategy == ShardingStrategy::hybrid_shard
             ? shard_ranks(scenario)
             : joined_nodes(scenario.cluster).gpus;
}

// How a part lies on nodes of `gpus_of_node` ranks: on so many, with so many ranks and cards on
// each. As many parts as `sharing` use each of these cards.
struct PartShape {
  std::int64_t nodes{}, gpus{}, nics{}, sharing = 1;
};

PartShape part_shape(const Scenario& scenario, RankGroup group, std::int64_t gpus_of_node,
                     std::int64_t nics) {
  const std::int64_t copy = copy_ranks(scenario);
  const std::int64_t parts = std::min(copy, gpus_of_node); // of replicas on a node
  const std::int64_t gpus = group == RankGroup::node ? parts : gpus_of_node / parts;
  const std::int64_t ranks = group == RankGroup::node ? copy : scenario.cluster.ranks() / copy;
  PartShape shape{.nodes = ranks / gpus, .gpus = gpus, .nics = nics};
  if (group == RankGroup::replica) {
    shape.nics = std::max<std::int64_t>(1, nics / parts);
    shape.sharing = (parts + nics - 1) / nics;
  }
  return shape;
}

PartShape part_shape(const Scenario& scenario, RankGroup group) {
  const JoinedNodes joined = joined_nodes(scenario.cluster);
  return part_shape(scenario, group, joined.gpus, joined.nics);
}

// The first of the parts, on its hosts.
auto fabric_of(const Scenario& scenario, RankGroup group) {
  const links::RankFabric& all = *scenario.cluster.fabric;
  auto fabric = std::make_shared<links::RankFabric>(all);
  fabric->hosts.clear();
  const programs::Group parts = rank_group(scenario, group);
  for (const std::uint32_t rank : parts.parts.front()) {
    fabric->hosts.push_back(all.hosts[rank]);
  }
  return fabric;
}

} // namespace

collectives::Collective collective_of(const Scenario& scenario, RankGroup group) {
  collectives::Collective collective = exchange_of(scenario);
  if (group == RankGroup::all) {
    return collective;
  }
  const PartShape shape = part_shape(scenario, group);
  collective.ranks = static_cast<std::uint32_t>(shape.nodes * shape.gpus);
  auto& levels = collective.links.two_level;
  if (shape.nodes == 1 || shape.gpus == 1) {
    levels.reset();
  } else if (levels) {
    levels->gpus_per_node = static_cast<std::uint32_t>(shape.gpus);
    levels->nics_per_node = static_cast<std::uint32_t>(shape.nics);
    collective.links.all.per_byte_s *= static_cast<double>(shape.sharing);
  }
  if (shape.nodes == 1) {
    collective.links.all = scenario.cluster.intra.value_or(collectives::LinkCost{});
  }
  if (is_simulated(scenario)) {
    collective.links.fabric = fabric_of(scenario, group);
  }
  const collectives::AlgorithmId id = collective.algorithm;
  const bool automatic = id == collectives::AlgorithmId::automatic;
  if (!automatic && ((collectives::is_two_level(id) &&
                      !(levels && collectives::validate_nodes(collective).empty())) ||
                     !collectives::takes_ranks(id, collective.ranks))) {
    collective.algorithm = collectives::AlgorithmId::ring;
  }
  if (automatic && !levels) {
    std::erase_if(collective.options.candidates, collectives::is_two_level);
  }
  return collective;
}

namespace {

// Of a broadcast: one chain of all ranks per card of a node, or a single one.
collectives::AlgorithmId chains(collectives::Collective collective) {
  collective.algorithm = collectives::kRingRails;
  return collective.links.two_level && !collective.links.fabric &&
                 collectives::validate_nodes(collective).empty()
             ? collective.algorithm
             : collectives::AlgorithmId::lp;
}

nccl::LibraryQuestion question_of(const Scenario& scenario, RankGroup group, collectives::Op op) {
  nccl::LibraryQuestion question = *scenario.communication.question;
  question.operation = collectives::operation_of(op);
  if (group == RankGroup::all) {
    return question;
  }
  const Cluster& cluster = scenario.cluster;
  const PartShape shape = // of the machines of a domain
      part_shape(scenario, group, cluster.gpus_per_node, cluster.nics_per_node);
  question.shape = {static_cast<std::uint32_t>(shape.nodes),
                    static_cast<std::uint32_t>(shape.gpus)};
  if (group == RankGroup::replica) {
    const std::int64_t domain = joined_nodes(cluster).gpus;
    question.node.domain_nodes = static_cast<std::uint32_t>(
        std::max<std::int64_t>(1, domain / copy_ranks(scenario) / shape.gpus));
    question.node.nics = static_cast<std::uint32_t>(shape.nics);
    question.node.nic_Bps /= static_cast<double>(shape.sharing);
  }
  return question;
}

} // namespace

programs::Group rank_group(const Scenario& scenario, RankGroup group) {
  const std::int64_t ranks = scenario.cluster.ranks();
  const std::int64_t copy = copy_ranks(scenario);
  const bool node = group == RankGroup::node;
  programs::Group parts{.name = "all"};
  if (group != RankGroup::all) {
    const bool whole = copy == joined_nodes(scenario.cluster).gpus;
    parts.name = !node ? "replica" : whole ? "node" : "shard";
  }
  parts.parts.resize(static_cast<std::size_t>(group == RankGroup::all ? 1
                                              : node                  ? ranks / copy
                                                                      : copy));
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    const std::int64_t part = node ? rank / copy : group == RankGroup::replica ? rank % copy : 0;
    parts.parts[static_cast<std::size_t>(part)].push_back(static_cast<std::uint32_t>(rank));
  }
  return parts;
}

GroupExchanges::GroupExchanges(const Scenario& scenario, RankGroup group, collectives::Op op,
                               std::uint32_t root, const ValueCodec& codec)
    : scenario_(scenario), group_(group),
      inside_(group != RankGroup::all && part_shape(scenario, group).nodes == 1), op_(op),
      collective_(collective_of(scenario, group)), extra_(extra_cost(scenario)) {
  const bool library = scenario.communication.question.has_value();
  const bool measured = !inside_ && has_curve(scenario) && !library;
  if (group == RankGroup::replica && !library && !inside_ &&
      (measured || !collective_.links.two_level)) {
    sharing_ = static_cast<double>(part_shape(scenario, group).sharing);
  }
  std::erase_if(collective_.options.candidates, [op](collectives::AlgorithmId id) {
    return collectives::find_algorithm(op, id) == nullptr;
  });
  const bool offered = collective_.algorithm == collectives::AlgorithmId::automatic ||
                       collectives::find_algorithm(op, collective_.algorithm) != nullptr;
  collective_.op = op;
  if (codec.method != CodecMethod::none) {
    collective_.options.element_bytes = 1;
    collective_.reduction_s_per_byte =
        codec.ratio * (collective_.reduction_s_per_byte + codec.hop_s(1));
  }
  if (!collective_.links.fabric) { // a rank adds its own bytes alone
    collective_.reduction_s_per_byte /= sharing_;
  }
  if (op == collectives::Op::broadcast) {
    collective_.root = root;
    collective_.algorithm = offered ? collective_.algorithm : chains(collective_);
    const double ranks = collective_.ranks;
    const bool derived = measured && !scenario.cluster.network.broadcast_curve && ranks > 1;
    part_ = derived ? ranks / (2 * (ranks - 1)) : 1;
  } else if (op != collectives::Op::allreduce) {
    own_ = measured && group == RankGroup::all ? measured_half(scenario, op) : std::nullopt;
    const bool halved = !own_ && (measured || (!offered && !library));
    part_ = halved ? 0.5 : 1;
    collective_.op = halved || !offered ? collectives::Op::allreduce : op;
  }
  std::optional<buckets::Cost> measured_cost = curve();
  has_parts_ = !library && !measured_cost;
  times_.emplace(collective_, scenario.method, std::move(measured_cost));
  if (collective_.ranks > 1 && !has_curve(scenario) &&
      (!collective_.links.fabric || is_star(scenario))) {
    line_ = startup_line();
  } else if (measured) {
    line_ = curve();
  }
  is_fixed_ = collectives::SentBytes::keeps(collective_);
  is_line_ = times_->line() && line_ && line_->is_linear() && collective_.reduction_s_per_byte <= 0;
}

buckets::Cost GroupExchanges::startup_line() {
  if (is_star(scenario_)) {
    collectives::Collective flat = collective_of(on_alpha_beta(scenario_), group_);
    flat.op = collective_.op;
    flat.algorithm = collective_.algorithm;
    flat.options = collective_.options;
    return programs::planner_cost(std::move(flat));
  }
  const bool chooses = collective_.algorithm == collectives::AlgorithmId::automatic;
  if (const auto line = chooses ? std::nullopt : times_->line()) {
    return {.base = buckets::LinearCost{line->startup_s, line->per_byte_s}};
  }
  return programs::planner_cost(collective_);
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
  const Network& network = scenario_.cluster.network;
  return inside_                                                        ? std::nullopt
         : own_                                                         ? own_
         : op_ == collectives::Op::broadcast && network.broadcast_curve ? network.broadcast_curve
                                                                        : network.curve;
}

programs::ExchangeSplit& GroupExchanges::parts(collectives::AlgorithmId algorithm) {
  if (!splits_) {
    splits_.emplace(collective_, scenario_.method);
  }
  return splits_->of(algorithm);
}

// Where the cost is no line, start-ups are told apart only if computing slows what follows them.
double GroupExchanges::startup(double bytes, double seconds) {
  if (const auto* line = line_ ? std::get_if<buckets::LinearCost>(&line_->base) : nullptr) {
    return std::min(line->startup_s * part_, seconds);
  }
  if (!scenario_.training.overlap.any() || !has_parts_) {
    return 0;
  }
  const programs::Exchange exchange = (*times_)(size(bytes));
  return std::min(part_ * parts(exchange.algorithm).startup(size(bytes)), seconds);
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
  if (!collective.links.two_level) {
    collective.links.two_level = exchange_of(scenario_).links.two_level;
  }
  return collective;
}

Bytes GroupExchanges::size(double bytes) const {
  return {static_cast<std::int64_t>(std::ceil(bytes * sharing_))};
}

GroupTimes GroupExchanges::times(double bytes) {
  return bytes > 0 ? of_seconds(bytes, times_->seconds(size(bytes))) : GroupTimes{};
}

GroupTimes GroupExchanges::of_seconds(double bytes, double whole_s) {
  GroupTimes result;
  const double seconds = part_ * whole_s;
  const bool sends = seconds > 0;
  const double start = startup(bytes, seconds);
  const double copies = scenario_.communication.copy_bandwidth_Bps;
  // An exchange of a single rank has no synchronisation and nothing to copy.
  const double moved =
      sends ? extra_.per_byte_s * bytes + (copies > 0 ? 2 * bytes / copies : 0) : 0;
  result.beside = {.startup = {sends ? extra_.startup_s : 0}, .data = {moved}};
  result.time = {.startup = {start + result.beside.startup.value},
                 .data = {seconds - start + moved}};
  result.startup_s = result.time.startup.value;
  return result;
}

GroupTimes GroupExchanges::of_exchange(double bytes, const programs::Exchange& exchange) {
  GroupTimes result = of_seconds(bytes, exchange.seconds);
  if (has_parts_) {
    const auto asked = [&] {
      collectives::Collective collective = collective_;
      collective.algorithm = exchange.algorithm;
      collective.bytes = static_cast<double>(size(bytes).value);
      return collective;
    };
    if (!exchange.exact) {
      const collectives::Collective collective = asked();
      const auto method = scenario_.method.value_or(collectives::automatic_method(collective));
      if (auto warning = collectives::estimate_warning(collective, method)) {
        estimates_.insert(*std::move(warning));
      }
    }
    if (collective_.reduction_s_per_byte > 0) {
      result.reduction_s =
          part_ * parts(exchange.algorithm).reduction(size(bytes), exchange.seconds);
    }
    if (!line_ || !line_->is_linear()) {
      result.startup_s =
          result.beside.startup.value + part_ * parts(exchange.algorithm).startup(size(bytes));
    }
  }
  return result;
}

void GroupExchanges::renew(double bytes, UnitExchange& exchange) {
  if (bytes > 0) {
    const GroupTimes of_group = is_line_ ? of_seconds(bytes, times_->seconds(size(bytes)))
                                         : of_exchange(bytes, (*times_)(size(bytes), false));
    exchange.seconds = of_group.seconds();
    exchange.time = of_group.time;
    exchange.startup_s = of_group.startup_s;
    exchange.reduction_s = of_group.reduction_s;
  }
}

GroupExchange GroupExchanges::operator()(double bytes) {
  if (!(bytes > 0)) {
    return {};
  }
  const programs::Exchange exchange = (*times_)(size(bytes));
  GroupExchange result;
  static_cast<GroupTimes&>(result) = of_exchange(bytes, exchange);
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

void add_evaluation(const GroupExchanges& exchanges, ScenarioProgram& made) {
  made.method = std::max(made.method, exchanges.method());
  made.events += exchanges.events();
  made.estimates.insert(exchanges.estimates().begin(), exchanges.estimates().end());
}

UnitExchange taken(const GroupTimes& times, bool simulated, MadeFor made_for) {
  UnitExchange unit{.seconds = times.seconds(),
                    .time = simulated ? times.beside : times.time,
                    .startup_s = times.startup_s,
                    .reduction_s = times.reduction_s};
  if (const Seconds startup{std::min(unit.startup_s, unit.seconds)};
      !simulated && made_for == MadeFor::lists && startup > unit.time.startup) {
    unit.time = {.startup = startup, .data = Seconds{unit.seconds} - startup};
  }
  return unit;
}

UnitExchange taken(const GroupExchange& exchange, bool simulated, MadeFor made_for) {
  UnitExchange unit = taken(static_cast<const GroupTimes&>(exchange), simulated, made_for);
  unit.bytes_sent = exchange.bytes_sent;
  if (simulated && exchange.sent) {
    unit.stages = {*exchange.sent};
  }
  return unit;
}

} // namespace stepsim::study
