#pragma once
// The parameters of the calibrated cost (CLU 7): factors on the published constants, shared by all
// shapes and operations of a system, and two plain numbers (kappa, rail).
//
//   Parameters    coordinates of a fit: the natural logarithm of a factor, or the plain number
//   Multipliers   values in the cost: the factor itself, or the plain number, at least 0
//
// Without measurements, a system has the means of the priors (prior_means).
#include <cstdint>

#include "base/words.hpp"

namespace stepsim::nccl {

enum class Parameter : std::uint8_t {
  base,
  in_ll,
  in_ll128,
  in_simple,
  net_ll,
  net_ll128,
  net_simple,
  bw_nvl,
  bw_nic,
  bw_mix,
  eff_ll,
  eff_ll128,
  tree,
  tree_lat,
  nvls,
  nvls_lat,
  nvlst,
  nvlst_lat,
  p2p_lat,
  p2p_n,
  p2p_x,
  floor,
  kappa,
  rail
};
inline constexpr auto kParameters = base::words<Parameter>();
inline constexpr std::size_t kParameterCount = 24;

using Parameters = std::array<double, kParameterCount>; // [Parameter]

struct ParameterRow {
  Parameter parameter{};
  double prior_mean{};       // a logarithm, or the plain number
  double prior_sd{};         // in the same unit as prior_mean
  bool plain = false;        // else the coordinate is a logarithm
  std::string_view sentence; // its effect
};

// The table, in the order of the enumerators.
[[nodiscard]] std::span<const ParameterRow> parameter_rows();
[[nodiscard]] const ParameterRow& row_of(Parameter parameter);

struct Multipliers {
  std::array<double, kParameterCount> value{};
  [[nodiscard]] double operator[](Parameter parameter) const {
    return value[static_cast<std::size_t>(parameter)];
  }
  double& operator[](Parameter parameter) { return value[static_cast<std::size_t>(parameter)]; }
};

[[nodiscard]] Parameters prior_means();
// Returns the value in the cost for a coordinate of a fit: the exponential, or the plain number, at
// least 0.
[[nodiscard]] double factor(Parameter parameter, double coordinate);
[[nodiscard]] Multipliers multipliers_of(const Parameters& parameters);
// Returns the multipliers of the published estimate: floor, kappa and rail are 0, all factors 1.
[[nodiscard]] Multipliers published_multipliers();

} // namespace stepsim::nccl
