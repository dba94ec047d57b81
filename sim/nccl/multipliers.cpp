#include "nccl/multipliers.hpp"

#include <cmath>

namespace stepsim::nccl {

namespace {

const std::array<ParameterRow, kParameterCount> kParameterRows = [] {
  using enum Parameter;
  return std::array<ParameterRow, kParameterCount>{{
      {base, 0, 0.7, false, "base latency of ring, tree, PAT and point-to-point"},
      {in_ll, 0, 0.5, false, "latency of a hop inside a node with LL"},
      {in_ll128, 0, 0.5, false, "latency of a hop inside a node with LL128"},
      {in_simple, 0, 0.5, false, "latency of a hop inside a node with Simple"},
      {net_ll, 0, 0.5, false, "latency of a network hop with LL"},
      {net_ll128, 0, 0.5, false, "latency of a network hop with LL128"},
      {net_simple, 0, 0.5, false, "latency of a network hop with Simple"},
      {bw_nvl, 0, 0.15, false, "ring rate inside a node"},
      {bw_nic, 0, 1.0, false, "rate of a network card"},
      {bw_mix, std::log(0.88), 0.1, false,
       "share of the ring rate inside a node that a ring reaches which leaves the node"},
      {eff_ll, 0, 0.5, false, "rate of LL after its caps"},
      {eff_ll128, 0, 0.1, false, "rate of LL128 after its caps"},
      {tree, 0, 0.25, false, "rate of a tree"},
      {tree_lat, 0, 0.4, false, "latency of a network hop of a tree"},
      {nvls, 0, 0.2, false, "rate of the switch of a node while it adds"},
      {nvls_lat, 0.5, 1.0, false, "start-up of NVLS"},
      {nvlst, 0, 0.2, false, "rate of nvls_tree"},
      {nvlst_lat, 0, 0.7, false, "latency of a network hop of nvls_tree"},
      {p2p_lat, 0, 1.0, false, "latency per message of an all-to-all"},
      {p2p_n, 0, 0.4, false, "rate of an all-to-all inside a node"},
      {p2p_x, 0, 0.7, false, "rate of an all-to-all between nodes"},
      {floor, 0, 1.0, false, "shortest possible operation"},
      {kappa, 0.25, 0.5, true, "cross term of latency and transfer"},
      {rail, 0, 2.0, true, "growth of the network hop with the cards in use"},
  }};
}();

} // namespace

std::span<const ParameterRow> parameter_rows() { return kParameterRows; }

const ParameterRow& row_of(Parameter parameter) {
  return kParameterRows[static_cast<std::size_t>(parameter)];
}

Parameters prior_means() {
  Parameters means{};
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    means[i] = kParameterRows[i].prior_mean;
  }
  return means;
}

double factor(Parameter parameter, double coordinate) {
  return row_of(parameter).plain ? std::max(0.0, coordinate) : std::exp(coordinate);
}

Multipliers multipliers_of(const Parameters& parameters) {
  Multipliers multipliers;
  for (std::size_t i = 0; i < kParameterCount; ++i) {
    multipliers.value[i] = factor(kParameterRows[i].parameter, parameters[i]);
  }
  return multipliers;
}

Multipliers published_multipliers() {
  Multipliers multipliers;
  multipliers.value.fill(1);
  multipliers[Parameter::floor] = 0;
  multipliers[Parameter::kappa] = 0;
  multipliers[Parameter::rail] = 0;
  return multipliers;
}

} // namespace stepsim::nccl
