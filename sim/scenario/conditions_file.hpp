#pragma once
// Files of kind conditions (CON 1, 3; keys in keys/conditions_keys.hpp).
#include "document/checked.hpp"
#include "document/json.hpp"
#include "scenario/conditions.hpp"

namespace stepsim::study {

// Reads one factor: a number that is taken as known, or a value with its range. Problems are added.
[[nodiscard]] FactorValue read_factor(const io::Json& json, Factor factor, io::Problems& problems);

// The factors of a file, which must have all of them. Throws InputError with all problems.
[[nodiscard]] FactorValues parse_conditions_file(const io::Json& json);

} // namespace stepsim::study
