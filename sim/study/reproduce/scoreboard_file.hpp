#pragma once
// Reads the rules that predict measured speeds (speed_rules.hpp) from figures.json.
#include "document/reader.hpp"
#include "study/reproduce/speed_rules.hpp"

namespace stepsim::reproduce {

// Returns the rules in `fields`, the object `predict` of a table, and adds what is wrong to the
// problems of `fields`. The caller sets Scoreboard::rows.
[[nodiscard]] Scoreboard read_scoreboard(io::Fields& fields);

} // namespace stepsim::reproduce
