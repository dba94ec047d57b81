#pragma once
// The largest density at which training with a sparse exchange is at least as fast as dense
// training that exchanges after backward (baseline sequential) or during backward (overlapped).

#include "study/tune.hpp"

namespace stepsim::study {

// What tune() calls for the knob density; tune() then adds the regrets. `best` is empty if sending
// even one entry is slower than problem.baseline. largest_k of each dense reference is the largest
// number of entries with which training is at least as fast as this reference, 0 if there is none.
// Throws SimulationError if the run with one entry fails.
[[nodiscard]] Tuning tune_density(const TuneProblem& problem, const TuneValues& values,
                                  Files& files, const SweepOptions& options);

// entries / elements, raised by single floating-point steps until floor(density * elements) is not
// below `entries`; at most 1. Both must be > 0.
[[nodiscard]] double density_of(std::int64_t entries, std::int64_t elements);

} // namespace stepsim::study
