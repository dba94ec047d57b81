#pragma once
// Reads parts of a file of kind program that do not depend on the rest of the file.
#include <string>
#include <vector>

#include "document/checked.hpp"
#include "document/json.hpp"
#include "programs/training_program.hpp"

namespace stepsim::study {

// Reads the object `overlap`: the slowdowns of compute (one number, or one per kind) and exchanges.
[[nodiscard]] programs::Interference parse_interference(const io::Json& overlap,
                                                        io::Problems& problems);

// Reads the object `groups`. programs::check() checks later that every rank is in exactly one part.
[[nodiscard]] std::vector<programs::Group> parse_groups(const io::Json& groups,
                                                        io::Problems& problems);

// Appends a warning if there are operations for which nothing waits, not even through the order of
// their fifo stream.
void add_unawaited(const programs::Program& program, std::vector<std::string>& warnings);

} // namespace stepsim::study
