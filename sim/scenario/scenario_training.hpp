#pragma once
// /training and /variability of a scenario (PIP 2, 9), read and written back.
#include "scenario/parse_context.hpp"
#include "json/json.hpp"

namespace stepsim::study {

// Read their objects; problems are reported.
void parse_training(io::Fields& fields, const ParseContext& context, Scenario& scenario);
void parse_variability(io::Fields& fields, const ParseContext& context, Scenario& scenario);

// The same parts back as trees, resolved: keys without a meaning for the algorithm are left out.
[[nodiscard]] io::Json training_tree(const Scenario& scenario);
[[nodiscard]] io::Json variability_tree(const train::Variability& variability);

} // namespace stepsim::study
