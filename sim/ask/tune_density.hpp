#pragma once
// The largest density at which a sparse exchange is at least as fast as dense training, by the
// baseline of the problem (sequential or overlapped).
#include <cstdint>

#include "ask/tune.hpp"

namespace stepsim::study {

// `tune` for the knob density, which then adds the regrets. The best is empty where even one entry
// is slower than the baseline; largest_k of each dense reference is the largest k that is at least
// as fast as this reference, 0 if there is none. Throws SimulationError if the run with one entry
// fails.
[[nodiscard]] Tuning tune_density(const TuneProblem& problem, const TuneValues& values,
                                  Files& files, const RowsOptions& options);

// entries / elements, or a next larger double where rounding would select one entry less. Both > 0.
[[nodiscard]] double density_of(std::int64_t entries, std::int64_t elements);

} // namespace stepsim::study
