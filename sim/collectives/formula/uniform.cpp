#include "collectives/formula/uniform.hpp"

#include "collectives/algorithms.hpp"
#include "collectives/evaluate/measured_steps.hpp"
#include "collectives/node_ranks.hpp"

#include <bit>
#include <cassert>
#include <functional>
#include <numeric>

namespace stepsim::collectives {

namespace {

// The common value of a per-rank list, `otherwise` if it is empty, nothing if values differ.
std::optional<double> common(const std::vector<double>& values, double otherwise) {
  if (values.empty()) {
    return otherwise;
  }
  return all_equal(values) ? std::optional(values.front()) : std::nullopt;
}

std::optional<LinkCost> common_link(const Collective& collective) {
  const Links& links = collective.links;
  if (links.pairs_only) {
    const std::size_t all_pairs = std::size_t{collective.ranks} * (collective.ranks - 1);
    if (links.two_level || links.pairs.empty() || links.pairs.size() != all_pairs) {
      return std::nullopt;
    }
  }
  const LinkCost cost = links.pairs_only ? links.pairs.front().cost : links.all;
  for (const PairCost& pair : links.pairs) {
    if (pair.cost != cost) {
      return std::nullopt;
    }
  }
  if (!links.two_level) {
    return cost;
  }
  if (!links.pairs.empty()) {
    return std::nullopt;
  }
  const Algorithm& row = algorithm(collective.algorithm);
  const bool takes_levels = row.node_phases != nullptr || row.in_switch;
  const bool other_machines = collective.algorithm == AlgorithmId::parameter_server &&
                              collective.options.placement == Placement::dedicated;
  if (takes_levels || other_machines || links.two_level->gpus_per_node == 1) {
    return cost;
  }
  if (collective.ranks <= links.two_level->gpus_per_node) {
    return links.two_level->intra;
  }
  return std::nullopt;
}

} // namespace

std::uint32_t ceil_log2(std::uint32_t ranks) {
  return ranks <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(ranks - 1));
}

std::uint32_t floor_log2(std::uint32_t ranks) {
  return ranks <= 1 ? 0 : static_cast<std::uint32_t>(std::bit_width(ranks)) - 1;
}

Symbols symbols(const Collective& collective) {
  const std::optional<UniformCost> cost = uniform_cost(collective);
  assert(cost && "closed forms need identical ranks and links");
  Symbols s;
  s.P = collective.ranks;
  s.n = total_bytes(collective);
  s.L = ceil_log2(collective.ranks);
  s.K = floor_log2(collective.ranks);
  s.F = std::has_single_bit(collective.ranks) ? 0 : 1;
  const double q = std::bit_floor(collective.ranks);
  s.f = (s.P - 1) / s.P;
  s.fq = (q - 1) / q;
  // Papers have one latency, which holds the ports.
  const bool printed = collective.options.cost_form != CostForm::exact;
  s.delay = printed ? 0 : cost->link.delay_s;
  s.alpha = cost->link.latency_s + s.delay;
  s.alpha_blk = cost->link.block_latency_s;
  s.beta = cost->link.per_byte_s;
  s.gamma = cost->reduction_s_per_byte;
  s.serial = collective.options.reduction_mode == ReductionMode::serial;
  return s;
}

bool all_equal(const std::vector<double>& values) {
  return std::ranges::adjacent_find(values, std::not_equal_to<>()) == values.end();
}

std::optional<UniformCost> uniform_cost(const Collective& collective) {
  if (collective.links.fabric || (takes_measured_steps(collective) && !is_empty(collective))) {
    return std::nullopt;
  }
  const std::optional<double> gamma =
      common(collective.reduction_s_per_byte_rank, collective.reduction_s_per_byte);
  const std::optional<double> enter = common(collective.enter_s, 0);
  if (!gamma || !enter) {
    return std::nullopt;
  }
  if (is_empty(collective)) {
    return UniformCost{collective.links.all, *gamma, *enter};
  }
  const std::optional<LinkCost> link = common_link(collective);
  return link ? std::optional(UniformCost{*link, *gamma, *enter}) : std::nullopt;
}

std::uint32_t ranks_per_interface(const Collective& collective) {
  const TwoLevel two = collective.links.two_level.value_or(TwoLevel{});
  const std::uint32_t local = std::min(two.gpus_per_node, collective.ranks);
  return (local + two.nics_per_node - 1) / two.nics_per_node;
}

double total_bytes(const Collective& collective) {
  if (collective.op == Op::allgatherv && !collective.sizes.empty()) {
    return std::accumulate(collective.sizes.begin(), collective.sizes.end(), 0.0);
  }
  return collective.bytes;
}

bool is_empty(const Collective& collective) {
  const bool other_rank = collective.algorithm == AlgorithmId::parameter_server &&
                          collective.options.placement == Placement::dedicated;
  const bool nothing = total_bytes(collective) <= 0 && !collective.options.empty_messages;
  return nothing || (collective.ranks <= 1 && !other_rank);
}

NodeShape node_shape(const Collective& collective) {
  const TwoLevel two = collective.links.two_level.value_or(TwoLevel{});
  const NodeRanks nodes(two, collective.ranks);
  NodeShape shape;
  shape.nodes = nodes.nodes();
  shape.gpus = nodes.largest();
  shape.cards = std::min(two.nics_per_node, shape.gpus);
  shape.sharing = ranks_per_interface(collective);
  shape.equal_nodes = nodes.equal();
  shape.intra = two.intra;
  shape.inter = collective.links.all;
  return shape;
}

bool has_delays(const NodeShape& shape) {
  return (shape.gpus > 1 && shape.intra.delay_s > 0) ||
         (shape.nodes > 1 && shape.inter.delay_s > 0);
}

std::optional<Line> upper_line(const Line& a, const Line& b) {
  if (a.startup_s >= b.startup_s && a.per_byte_s >= b.per_byte_s) {
    return a;
  }
  if (b.startup_s >= a.startup_s && b.per_byte_s >= a.per_byte_s) {
    return b;
  }
  return std::nullopt;
}

} // namespace stepsim::collectives
