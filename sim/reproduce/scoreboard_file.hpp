#pragma once
// The rules that predict measured speeds, as figures.json has them.
#include "reproduce/speed_rules.hpp"
#include "json/reader.hpp"

namespace stepsim::reproduce {

// Problems are those of the fields.
[[nodiscard]] Scoreboard read_scoreboard(io::Fields& fields);

} // namespace stepsim::reproduce
