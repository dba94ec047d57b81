#pragma once
// Checks single values of a file: numbers, integers and texts with a unit.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "json/json.hpp"
#include "json/problems.hpp"
#include "json/range.hpp"

namespace stepsim::io {

// The quantity of a number at this place, by the last key of the pointer. Elements of a list have
// the quantity of the list's key, and a key without a unit is a ratio. Empty if a text with a unit
// is not allowed.
[[nodiscard]] std::optional<base::QuantityKind> kind_of_place(std::string_view pointer);

// The number that a text at this place means: in a unit of the key ("25Gbps" at
// /cluster/network/bandwidth_Bps, "10ms" at /ready_s/3), or a percentage if the key has no unit.
// Empty for all other texts, such as the words that some keys allow besides numbers.
[[nodiscard]] std::optional<Json> quantity_at(std::string_view pointer, std::string_view text);
// The value of a number, or of a text by quantity_at() its own place; empty for everything else.
[[nodiscard]] std::optional<double> number_of(const Json& value);
// The tree with numbers instead of texts with a unit of their key; percentages stay texts.
[[nodiscard]] Json with_numbers(Json tree);

// Checks elements of lists: a problem names the pointer of the element. An integer may be written
// as 16.0 or 1e6, and both numbers and integers as a text with a unit. Empty after a problem.
[[nodiscard]] std::optional<double> checked_number(const Json& value, Range range,
                                                   Problems& problems);
[[nodiscard]] std::optional<std::int64_t> checked_integer(const Json& value, Range range,
                                                          Problems& problems);
// The value for error messages: compact JSON of at most 40 bytes, "an object" or "a list".
[[nodiscard]] std::string shown(const Json& value);

} // namespace stepsim::io
