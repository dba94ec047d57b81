#pragma once
// A scenario as a program: what every worker does in one iteration, as operations on streams
// (TRN 2, 4). The plan of the schedule gives the buckets, the evaluators of collectives say how
// long an exchange takes, and the builder of the training algorithm puts both on streams.
//
//     workload --plan--> buckets --costs--> exchange times --builder--> program
#include <cstdint>
#include <string>
#include <vector>

#include "coll/method.hpp"
#include "plan/problem.hpp"
#include "program/training_program.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// What the label `unit` of an operation means: a bucket, in launch order.
struct ProgramUnit {
  std::vector<std::uint32_t> layers; // from 0 in forward order, ascending
  std::vector<double> layer_bytes;   // [layers] bytes of its gradients; they share its exchange
  Bytes bytes;
  BucketCost cost;
};

struct ScenarioProgram {
  program::Program program; // layers of operations are those of the workload
  std::vector<ProgramUnit> units;
  plan::Plan plan;                                 // its groups are the units
  coll::Method method = coll::Method::closed_form; // the most faithful evaluator of exchanges
  std::uint64_t events{};                          // that it simulated
};

// Why the scenario cannot become a program, as a sentence; empty if it can.
[[nodiscard]] std::string why_no_program(const Scenario& scenario);

// Throws SimulationError with why_no_program(), and as the evaluators of exchanges do. Workers are
// equal in the program: factors of variability are applied when it is evaluated.
[[nodiscard]] ScenarioProgram scenario_program(const Scenario& scenario);

} // namespace stepsim::study
