#include "collectives/formula/symbols.hpp"

#include <bit>
#include <cassert>
#include <optional>

#include "collectives/formula/uniform.hpp"

namespace stepsim::collectives {

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

} // namespace stepsim::collectives
