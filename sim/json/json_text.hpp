#pragma once
// JSON trees to texts. The same tree gives the same text, whatever the order of its members:
// doubles are the shortest that read back to the same bits (asserted finite).
#include <string>

#include "json/json.hpp"

namespace stepsim::io {

// Sorted keys, 2-space indent, shortest doubles, newline at the end.
[[nodiscard]] std::string pretty(const Json& value);
// One line, sorted keys, no blanks, no newline.
[[nodiscard]] std::string compact(const Json& value);
// The same, at the end of `out`.
void append_compact(std::string& out, const Json& value);
// JSON has no NaN and no infinity: throws SimulationError with the pointer of such a number of a
// result, because a null would be read as "does not exist".
void require_finite(const Json& result);

} // namespace stepsim::io
