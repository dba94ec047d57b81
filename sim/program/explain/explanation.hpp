#pragma once
// The explanation of a program: what bounds its period, where the period goes, and how it depends
// on links and computing (TRN 7.1 to 7.3).
#include <vector>

#include "program/explain/attribution.hpp"
#include "program/explain/binding_path.hpp"
#include "program/explain/program_evaluation.hpp"
#include "program/explain/sensitivity.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct ExplainOptions {
  Evaluation evaluation;
  ProgramLabels labels;
  LinkConstants links;
  std::size_t operations = 5; // derivatives by the seconds of so many operations, largest shares
};

struct Explanation {
  Evaluator evaluator{};
  double exposed_s{};      // communication
  double interference_s{}; // period minus that without interference
  BindingPath path;        // with the period
  Attribution attribution;
  std::vector<Sensitivity> sensitivities;
};

// Of a valid program. Critical cycle and derivatives are exact where has_critical_cycle(), else
// they come from the recorded run, of one rank where all are equal. Throws SimulationError as
// evaluate() does.
[[nodiscard]] Explanation explain(const Program& program, const ExplainOptions& options);

} // namespace stepsim::program
