#pragma once
// An explanation in words that an engineer understands without the tables.
#include <string>
#include <vector>

#include "programs/explained.hpp"

namespace stepsim::study {

// Three to six whole sentences: how long a step takes, what bounds it, how much of it is exposed
// communication, interference, which change helps most, and how far a measured step is from that.
[[nodiscard]] std::vector<std::string> sentences_of(const Explained& explained);

} // namespace stepsim::study
