#pragma once
// How long an evaluation keeps a processor busy, told before it starts: from the number of
// transfers of its schedule, which phases know without listing them.
//     closed_form   nothing, but the trees of a double binary tree are built: 0.5 us per rank
//     max_plus      20 ns per transfer, 1 ns in rings, which are vector loops
//     events        0.3 us per transfer, 2 us through a fabric
// One core of the 2020s, optimised build; right within a factor of three or so.
#include <optional>

#include "coll/collective.hpp"

namespace stepsim::coll {

// Seconds of processor time. Without a method: by the one that `automatic_method` takes for the
// algorithm. `auto` counts the choice among its candidates and the slowest of them.
[[nodiscard]] double evaluation_seconds(const Collective& asked, std::optional<Method> method);

} // namespace stepsim::coll
