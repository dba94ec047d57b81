#pragma once
// Writes JSON trees as text. Equal trees give equal texts, whatever the order of their members; a
// double is written with the fewest digits that read back to the same bits (asserted finite).
#include <cstddef>

#include "document/json.hpp"

namespace stepsim::io {

// Sorted keys, indent of two spaces, newline at the end.
[[nodiscard]] std::string pretty(const Json& value);
// Appends the lines of pretty(value) at a depth, without the newline at the end.
void append_pretty(std::string& out, const Json& value, std::size_t depth);
// One line, sorted keys, no blanks, no newline.
[[nodiscard]] std::string compact(const Json& value);
// Appends compact(value) to `out`.
void append_compact(std::string& out, const Json& value);
// Throws SimulationError with the pointer of a NaN or infinite number of a result: JSON cannot hold
// it, and null would mean that the value does not exist.
void require_finite(const Json& result);

} // namespace stepsim::io
