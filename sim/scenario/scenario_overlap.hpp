#pragma once
// /training/overlap of a scenario, and its short form compute_slowdown (TRN 3).
#include <optional>

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads both keys into `scenario.training.overlap`. Given numbers come first, then those of a file,
// then those of the table.
void parse_overlap(io::Fields& training, const ParseContext& context, Scenario& scenario);
// Reports what a slowdown does not go with: it is never left out of a result in silence.
void check_overlap(const io::Json& tree, const ParseContext& context, const Scenario& scenario);
// Adds the keys to the resolved training.
void add_overlap(const Training& training, io::Json& tree);

// The factor on all computing, if it is one and exchanges are not slowed.
[[nodiscard]] std::optional<double> one_slowdown(const program::Interference& overlap);

} // namespace stepsim::study
