#pragma once
// Reads and writes /training and /variability of a scenario (PIP 2, 9).
#include "document/json.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// These read /training and /variability; problems are reported.
void parse_training(io::Fields& fields, const ParseContext& context, Scenario& scenario);
void parse_variability(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// The two resolved objects, without keys that the algorithm does not use.
[[nodiscard]] io::Json training_tree(const Scenario& scenario);
[[nodiscard]] io::Json variability_tree(const layers::Variability& variability);

} // namespace stepsim::study
