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
inline constexpr auto kParameters = base::words<Parameter>({{Parameter::base, "base"},
                                                            {Parameter::in_ll, "in_ll"},
                                                            {Parameter::in_ll128, "in_ll128"},
                                                            {Parameter::in_simple, "in_simple"},
                                                            {Parameter::net_ll, "net_ll"},
                                                            {Parameter::net_ll128, "net_ll128"},
                                                            {Parameter::net_simple, "net_simple"},
                                                            {Parameter::bw_nvl, "bw_nvl"},
                                                            {Parameter::bw_nic, "bw_nic"},
                                                            {Parameter::bw_mix, "bw_mix"},
                                                            {Parameter::eff_ll, "eff_ll"},
                                                            {Parameter::eff_ll128, "eff_ll128"},
                                                            {Parameter::tree, "tree"},
                                                            {Parameter::tree_lat, "tree_lat"},
                                                            {Parameter::nvls, "nvls"},
                                                            {Parameter::nvls_lat, "nvls_lat"},
                                                            {Parameter::nvlst, "nvlst"},
                                                            {Parameter::nvlst_lat, "nvlst_lat"},
                                                            {Parameter::p2p_lat, "p2p_lat"},
                                                            {Parameter::p2p_n, "p2p_n"},
                                                            {Parameter::p2p_x, "p2p_x"},
                                                            {Parameter::floor, "floor"},
                                                            {Parameter::kappa, "kappa"},
                                                            {Parameter::rail, "rail"}});
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
