#pragma once
// Finds what makes a collective unusable (COL 15) though each value is in the range of its key,
// which readers check, as text for the user. `what` is the name of the value in files, relative to
// the object that contains it ("root", "links/3/block_latency_s"); the cli turns it into a flag,
// readers into a JSON pointer.

#include "collectives/record.hpp"

namespace stepsim::collectives {

struct Finding {
  std::string what;
  std::string message; // "must be 0 to 3, got 4"
};

// Returns the problems of the collective; empty if there are none. A check that depends on other
// problems, such as what algorithms over nodes need, is left out until these are fixed.
[[nodiscard]] std::vector<Finding> validate(const Collective& collective);

// Returns the same problems; if there are none, also checks that the requested method can time it.
[[nodiscard]] std::vector<Finding> validate(const Collective& collective, AskedMethod asked);

// Returns why `auto` cannot try an algorithm for `op`; empty if it can: anywhere, and on these
// ranks and nodes, which must be valid otherwise.
[[nodiscard]] std::optional<std::string> candidate_finding(Op op, AlgorithmId algorithm);
[[nodiscard]] std::optional<std::string> candidate_finding(const Collective& collective,
                                                           AlgorithmId algorithm);

// Checks what the algorithms over nodes require of a cluster: equal nodes, cards that divide the
// GPUs, switches that add, and messages that can be cut into chunks (CLU 3, 5, 13).

// Returns the problems; the collective must be valid otherwise.
[[nodiscard]] std::vector<Finding> validate_nodes(const Collective& collective);

// Finds what makes a compressed exchange unusable (SPA 14), as text for the user.

// Returns the problems of a compressed exchange of `base.bytes` dense bytes; empty if it can run.
// If `validate(base)` finds problems, only these are returned. Else it checks the method on these
// ranks, on bytes / value_bytes elements and on `shapes` (for powersgd; empty = one 1-D tensor),
// and then whether `asked` can time it. `what` of a finding is a key of `compression`, or as in
// `validate(base)`.
[[nodiscard]] std::vector<Finding> validate(const Compression& compression,
                                            const std::vector<MatrixShape>& shapes,
                                            const Collective& base, AskedMethod asked);

} // namespace stepsim::collectives
