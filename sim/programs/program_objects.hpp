#pragma once
// Parts of a file of kind program that stand on their own.
#include <string>
#include <vector>

#include "program/training_program.hpp"
#include "json/json.hpp"
#include "json/problems.hpp"

namespace stepsim::study {

// The object `overlap`: slowdowns of computing, one or by kind, and of exchanges.
[[nodiscard]] program::Interference parse_interference(const io::Json& overlap,
                                                       io::Problems& problems);

// The object `groups`; that every rank is in one part is left to program::check.
[[nodiscard]] std::vector<program::Group> parse_groups(const io::Json& groups,
                                                       io::Problems& problems);

// Appends the warning about operations that nothing waits for, not even by the order of their fifo
// stream, if there are any.
void add_unawaited(const program::Program& program, std::vector<std::string>& warnings);

} // namespace stepsim::study
