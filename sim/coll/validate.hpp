#pragma once
// What makes a collective unusable (COL 15), as text for the user. `what` names the value as in
// files, below the object that holds it ("latency_s", "links/3/src", "enter_s/2"); the cli maps it
// to a flag, readers to a JSON pointer.
#include <optional>
#include <string>
#include <vector>

#include "coll/collective.hpp"
#include "coll/record.hpp"

namespace stepsim::coll {

struct Finding {
  std::string what;
  std::string message; // "must be >= 0, got -1"
};

// The problems of the collective; empty if there are none. What cannot be judged before other
// problems are mended is left out, such as what algorithms over nodes need.
[[nodiscard]] std::vector<Finding> validate(const Collective& collective);

// The same and, if there are none, whether the asked method can answer.
[[nodiscard]] std::vector<Finding> validate(const Collective& collective, AskedMethod asked);

// Why `auto` cannot try an algorithm for `op`; empty if it can.
[[nodiscard]] std::optional<std::string> candidate_finding(Op op, AlgorithmId algorithm);

} // namespace stepsim::coll
