#pragma once
// What a real run loses against nominal rates (CON): links that reach a part of their rate,
// messages that cost something to start, computing that is slower beside an exchange and among
// several workers. Each loss is a factor with its spread between sites.
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::study {

enum class Factor {
  e_pcie,
  e_nvlink,
  e_xgmi,
  e_tcp,
  c_tcp,
  c_cloud,
  e_rdma_pcie,
  e_rdma_one,
  e_rdma_many,
  e_host,
  a_nccl,
  a_horovod,
  h_tcp,
  h_rdma,
  s_net,
  s_bus,
  l_0,
  l_1,
  l_low,
  q
};
inline constexpr auto kFactors = base::words<Factor>({{Factor::e_pcie, "e_pcie"},
                                                      {Factor::e_nvlink, "e_nvlink"},
                                                      {Factor::e_xgmi, "e_xgmi"},
                                                      {Factor::e_tcp, "e_tcp"},
                                                      {Factor::c_tcp, "c_tcp"},
                                                      {Factor::c_cloud, "c_cloud"},
                                                      {Factor::e_rdma_pcie, "e_rdma_pcie"},
                                                      {Factor::e_rdma_one, "e_rdma_one"},
                                                      {Factor::e_rdma_many, "e_rdma_many"},
                                                      {Factor::e_host, "e_host"},
                                                      {Factor::a_nccl, "a_nccl"},
                                                      {Factor::a_horovod, "a_horovod"},
                                                      {Factor::h_tcp, "h_tcp"},
                                                      {Factor::h_rdma, "h_rdma"},
                                                      {Factor::s_net, "s_net"},
                                                      {Factor::s_bus, "s_bus"},
                                                      {Factor::l_0, "l_0"},
                                                      {Factor::l_1, "l_1"},
                                                      {Factor::l_low, "l_low"},
                                                      {Factor::q, "q"}});
inline constexpr std::size_t kFactorCount = kFactors.all().size();

// What the factor is, "the share of its rate that PCIe reaches in a ring".
[[nodiscard]] std::string_view meaning(Factor factor);
// Whether the spread is one of the value itself, not of its logarithm.
[[nodiscard]] constexpr bool is_plain(Factor factor) { return factor >= Factor::l_0; }

// Whether it is a time that every message or hop costs; 0 costs nothing.
[[nodiscard]] constexpr bool is_cost(Factor factor) {
  return factor >= Factor::a_nccl && factor <= Factor::h_rdma;
}
// The value with which nothing is lost.
[[nodiscard]] double value_without_loss(Factor factor);

struct FactorValue {
  double value{};
  double tau{}; // standard deviation between sites; 0: the value is known
};
using FactorValues = std::array<FactorValue, kFactorCount>; // [Factor]

// The value moved by `deviations` standard deviations. A slowdown stays at least 1, and losses and
// exponents at least 0.
[[nodiscard]] double moved(Factor factor, const FactorValue& value, double deviations);
// The spread of a value whose range from `low` to `high` holds 80 % of all sites.
[[nodiscard]] double tau_of_range(Factor factor, double low, double high);

enum class ConditionsKind { ideal, typical };
inline constexpr auto kConditionsKinds = base::words<ConditionsKind>(
    {{ConditionsKind::ideal, "ideal"}, {ConditionsKind::typical, "typical"}});

using links::Bus;
using links::Carrier;

// A training step as far as its losses depend on it.
struct LossQuestion {
  std::int64_t machines = 1; // N
  std::int64_t gpus = 1;     // G, of a machine
  std::int64_t ranks = 1;    // P
  double network_Bps{};      // n: of a machine, nominal
  double bus_Bps{};          // b, nominal
  Carrier carrier{};
  Bus bus{};
  bool fuses_by_time = false;     // Horovod
  bool host_reduction = false;    // sums on the host's processor
  bool reduced_precision = false; // computing in 16 or 8 bits
  std::int64_t measured_gpus = 1; // P0: of the run that the times of computing are from
  std::int64_t micro_batches = 1; // m
};
struct Losses {
  double network_Bps{};        // n', of a machine
  double bus_Bps{};            // b'
  double ring_Bps{};           // B: of a ring through all ranks
  double message_s{};          // a: once per message
  double hop_s{};              // lambda: latency of every hop
  double interference{1};      // s
  double computing{1};         // k
  std::vector<Factor> factors; // that counted, in the order of the table
};
[[nodiscard]] Losses losses(const LossQuestion& question,
                            const std::array<double, kFactorCount>& values);

// The settings of a scenario.
struct Conditions {
  ConditionsKind kind{};
  std::string file;         // as written; "" = the shipped ones
  FactorValues factors{};   // only where typical
  std::vector<Factor> own;  // that the scenario gives itself
  std::vector<Factor> used; // that count in this scenario
};

} // namespace stepsim::study
