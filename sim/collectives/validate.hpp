#pragma once
// Finds what makes a collective unusable (COL 15), as text for the user. `what` is the name of the
// value in files, relative to the object that contains it ("latency_s", "links/3/src",
// "enter_s/2"); the cli turns it into a flag, readers into a JSON pointer.
#include <optional>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/record.hpp"

namespace stepsim::collectives {

struct Finding {
  std::string what;
  std::string message; // "must be >= 0, got -1"
};

// Returns the problems of the collective; empty if there are none. A check that depends on other
// problems, such as what algorithms over nodes need, is left out until these are fixed.
[[nodiscard]] std::vector<Finding> validate(const Collective& collective);

// Returns the same problems; if there are none, also checks that the requested method can time it.
// The limits of max_plus for parameter servers (max_plus_defined()) are not checked; max_plus()
// throws.
[[nodiscard]] std::vector<Finding> validate(const Collective& collective, AskedMethod asked);

// Returns why `auto` cannot try an algorithm for `op`; empty if it can.
[[nodiscard]] std::optional<std::string> candidate_finding(Op op, AlgorithmId algorithm);

} // namespace stepsim::collectives
