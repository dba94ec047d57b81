#pragma once
// A scenario as a program: what every worker does in one iteration, as operations on streams
// (TRN 2, 4). The plan of the schedule gives the buckets, the evaluators of collectives say how
// long an exchange takes, and the builder of the training algorithm puts both on streams.
//
//     workload --plan--> buckets --costs--> exchange times --builder--> program
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "coll/method.hpp"
#include "plan/problem.hpp"
#include "program/operation_times.hpp"
#include "program/training_program.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// One exchange of a unit: seconds, and bytes that the rank that sends most sends. Where every
// message is simulated the seconds are those of the exchange alone, and its operations keep only
// what is not on the wire; the stages are what is, one after the other.
struct UnitExchange {
  double seconds{};
  double bytes_sent{};
  std::vector<coll::Collective> stages{};
};

// What the label `unit` of an operation means: a bucket, in launch order, or a sharding unit, in
// forward order.
struct ProgramUnit {
  std::vector<std::uint32_t> layers{}; // from 0 in forward order, ascending
  std::vector<double> layer_bytes{};   // [layers] bytes of its gradients; they share its exchanges
  Bytes bytes{};                       // of its gradients
  std::int64_t parameters{};           // sharding units: rounded up to a multiple of the shards
  BucketCost cost{};                   // buckets that are all-reduced; `algorithm` of all units
  UnitExchange exchange{};             // all-reduce of buckets that have one
  // Reduce-scatter or reduce, and all-gather or broadcast; the all-reduce of replicas.
  UnitExchange gather{}, reduce{}, replicate{};
};

struct ScenarioProgram {
  program::Program program; // layers of operations are those of the workload
  std::vector<ProgramUnit> units;
  plan::Plan plan;               // its groups are the units; empty with sharding units
  bool sharded = false;          // the units are sharding units
  bool simulated = false;        // every message is simulated
  std::optional<bool> certified; // optimal sharding units: none are better
  coll::Method method = coll::Method::closed_form; // the most faithful evaluator of exchanges
  std::uint64_t events{};                          // that it simulated
};

// Which exchange of its unit an operation is; null for computing.
using ExchangeMember = UnitExchange ProgramUnit::*;
[[nodiscard]] ExchangeMember exchange_member(const ScenarioProgram& made,
                                             const program::Operation& operation);
[[nodiscard]] inline const UnitExchange* exchange_of(const ScenarioProgram& made,
                                                     const program::Operation& operation) {
  const ExchangeMember member = exchange_member(made, operation);
  return member != nullptr ? &(made.units[static_cast<std::size_t>(operation.unit)].*member)
                           : nullptr;
}

// Why the scenario cannot become a program that stands alone, as a sentence; empty if it can.
// Exchanges whose messages are simulated one by one have no times of their own.
[[nodiscard]] std::string why_no_program(const Scenario& scenario);

// Throws SimulationError where the algorithm has no program, and as the evaluators of exchanges do.
// Workers are equal in the program: factors of variability are applied when it is evaluated.
// `simulated`: its messages are to go through the network of the scenario one by one.
[[nodiscard]] ScenarioProgram scenario_program(const Scenario& scenario, bool simulated = false);

// Factors of all ranks in `iterations`; empty where nothing varies.
[[nodiscard]] program::Factors factors_of(const Scenario& scenario, const program::Program& program,
                                          std::int64_t iterations);

} // namespace stepsim::study
