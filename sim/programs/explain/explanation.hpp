#pragma once
// Explains the period of a program: its binding path, the division of the period into shares, and
// the derivatives with respect to links and compute (TRN 7.1 to 7.3).

#include "programs/explain/binding_path.hpp"
#include "programs/explain/program_evaluation.hpp"

namespace stepsim::programs {

struct ExplainOptions {
  Evaluation evaluation;
  ProgramLabels labels;
  LinkConstants links;
  // How many operations, those with the most seconds on the path, get a derivative of their own.
  std::size_t operations = 5;
};

struct Explanation {
  Evaluator evaluator{};
  double exposed_s{};      // exposed communication: period minus that of without_exchanges()
  double interference_s{}; // period minus the period without interference
  BindingPath path;        // holds the period
  Attribution attribution;
  std::vector<Sensitivity> sensitivities;
};

// Explains a valid program. If has_critical_cycle(), path and derivatives are exact; otherwise they
// come from a recorded run, of a single rank if there are no compute factors. Throws
// SimulationError as evaluate() does with Record::all.
[[nodiscard]] Explanation explain(const Program& program, const ExplainOptions& options);

} // namespace stepsim::programs
