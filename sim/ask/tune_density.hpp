#pragma once
// The largest density at which a sparse exchange is at least as fast as dense training.
#include <cstdint>

#include "ask/tune.hpp"

namespace stepsim::study {

// `tune` for the knob density, but for the regrets. The best is empty where not even one entry
// pays; the dense references say up to which k each of them is met. Throws SimulationError if the
// run with one entry fails.
[[nodiscard]] Tuning tune_density(const TuneProblem& problem, const TuneValues& values,
                                  Files& files, const RowsOptions& options);

// The smallest density at which `entries` of `elements` are selected, so that a scenario with it
// selects exactly as many, whatever the rounding.
[[nodiscard]] double density_of(std::int64_t entries, std::int64_t elements);

} // namespace stepsim::study
