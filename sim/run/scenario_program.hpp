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
#include "program/training_program.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// One exchange of a unit: seconds, and bytes that the rank that sends most sends.
struct UnitExchange {
  double seconds{};
  double bytes_sent{};
};

// What the label `unit` of an operation means: a bucket, in launch order, or a sharding unit, in
// forward order.
struct ProgramUnit {
  std::vector<std::uint32_t> layers{}; // from 0 in forward order, ascending
  std::vector<double> layer_bytes{};   // [layers] bytes of its gradients; they share its exchanges
  Bytes bytes{};                       // of its gradients
  std::int64_t parameters{};           // sharding units: rounded up to a multiple of the shards
  BucketCost cost{};                   // buckets that are all-reduced; `algorithm` of all units
  UnitExchange exchange{};             // all-reduce, with a broadcast or all-gather behind it
  UnitExchange gather{}, reduce{}, replicate{}; // of sharded training
};

struct ScenarioProgram {
  program::Program program; // layers of operations are those of the workload
  std::vector<ProgramUnit> units;
  plan::Plan plan;               // its groups are the units; empty with sharding units
  bool sharded = false;          // the units are sharding units
  std::optional<bool> certified; // optimal sharding units: none are better
  coll::Method method = coll::Method::closed_form; // the most faithful evaluator of exchanges
  std::uint64_t events{};                          // that it simulated
};

// Why the scenario cannot become a program, as a sentence; empty if it can.
[[nodiscard]] std::string why_no_program(const Scenario& scenario);

// Throws SimulationError with why_no_program(), and as the evaluators of exchanges do. Workers are
// equal in the program: factors of variability are applied when it is evaluated.
[[nodiscard]] ScenarioProgram scenario_program(const Scenario& scenario);

} // namespace stepsim::study
