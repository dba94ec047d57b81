#pragma once
// The word for what bounds the step of a program: the workers it waits for, or what verdict() says
// of its binding path.
#include <string>

#include "run/evaluated_program.hpp"
#include "run/summary.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// `found` is the evaluation of `made` with `factors`; `summary` has its times.
[[nodiscard]] std::string program_bottleneck(const Scenario& scenario, const ScenarioProgram& made,
                                             const EvaluatedProgram& found,
                                             const programs::Factors& factors,
                                             const Summary& summary);

} // namespace stepsim::study
