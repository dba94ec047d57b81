#pragma once
// What a real run loses against nominal rates (CON): links that reach a part of their rate,
// messages that cost something to start, computing that is slower beside an exchange and among
// several workers. Each loss is a factor with its spread between sites.

#include "base/words.hpp"
#include "document/checked.hpp"

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
  e_ps,
  e_host,
  e_sched,
  a_nccl,
  a_horovod,
  a_server,
  a_sched,
  h_tcp,
  h_rdma,
  s_net,
  s_bus,
  l_0,
  l_1,
  l_low,
  q
};
inline constexpr auto kFactors = base::words<Factor>();
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
// 80 % of a normal distribution lie within so many standard deviations.
inline constexpr double kDeviationsOf80 = 1.2815515655446004;
// The spread of a value whose range from `low` to `high` holds 80 % of all sites.
[[nodiscard]] double tau_of_range(Factor factor, double low, double high);

enum class ConditionsKind { ideal, typical };
inline constexpr auto kConditionsKinds = base::words<ConditionsKind>();

// The settings of a scenario.
struct Conditions {
  ConditionsKind kind{};
  std::string file;          // as written; "" = the shipped ones
  FactorValues factors{};    // only where typical
  std::vector<Factor> given; // that the scenario gives
  std::vector<Factor> used;  // that count in the step of this scenario
  // Effective rates and times of links, and the slowdown of each job's layers. Scenarios that
  // differ in factors alone share exchange times if `links` are equal, and layer times if
  // `computing` is.
  std::vector<double> links, computing;
  // Layer time of a single worker divided by the layer time in this cluster.
  double alone = 1;
  std::vector<std::string_view> shortened; // latencies and delays that their starts replace
  // Whether starts of messages and their transfers hide behind each other, so that the step is the
  // longer one of a run without the former and a run without the latter.
  bool hides_transfers = false;
};

// Files of kind conditions (CON 1, 3; keys in keys/scenario_keys.hpp).

// The factors of a file, which must have all of them. Throws InputError with all problems.
[[nodiscard]] FactorValues parse_conditions_file(const io::Json& json);

} // namespace stepsim::study
