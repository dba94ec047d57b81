#pragma once
// Puts an explanation into sentences that an engineer understands without the tables.
#include <string>
#include <vector>

#include "run/verdict.hpp"
#include "study/explained.hpp"

namespace stepsim::study {

// The parts of the binding path, and what bounds the program by them (run/verdict.hpp).
[[nodiscard]] PathParts path_parts(const Explained& explained);
[[nodiscard]] std::string bottleneck_of(const Explained& explained);

// Returns the sentences, usually three to six: the step time, what bounds it, the exposed
// communication, the interference, the change that helps most, and the difference to a measured
// step.
[[nodiscard]] std::vector<std::string> sentences_of(const Explained& explained);

} // namespace stepsim::study
