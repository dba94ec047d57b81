#pragma once
// Reads parts of a file of kind program that do not depend on the rest of the file.
#include <string>
#include <vector>

#include "program/training_program.hpp"
#include "json/json.hpp"
#include "json/problems.hpp"

namespace stepsim::study {

// Reads the object `overlap`: the slowdowns of compute (one number, or one per kind) and exchanges.
[[nodiscard]] program::Interference parse_interference(const io::Json& overlap,
                                                       io::Problems& problems);

// Reads the object `groups`. program::check() checks later that every rank is in exactly one part.
[[nodiscard]] std::vector<program::Group> parse_groups(const io::Json& groups,
                                                       io::Problems& problems);

// Appends a warning if there are operations for which nothing waits, not even through the order of
// their fifo stream.
void add_unawaited(const program::Program& program, std::vector<std::string>& warnings);

} // namespace stepsim::study
