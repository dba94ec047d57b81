#pragma once
// Single values of a file, checked: numbers, integers and texts with a unit.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "json/json.hpp"
#include "json/problems.hpp"
#include "json/range.hpp"

namespace stepsim::io {

// The kind of quantity that a number at this place is, by the last key of the pointer; elements of
// a list have the kind of the list's key, and a key without a unit is a ratio. Empty where a text
// with a unit is never taken.
[[nodiscard]] std::optional<base::QuantityKind> kind_of_place(std::string_view pointer);

// The number that a text stands for at this place: in a unit of the place's key ("25Gbps" at
// /cluster/network/bandwidth_Bps, "10ms" at /ready_s/3), or a percentage where the key has none.
// Empty for all other texts, such as the words that some keys take beside numbers.
[[nodiscard]] std::optional<Json> quantity_at(std::string_view pointer, std::string_view text);
// A number as it is, a text as `quantity_at` its own place; empty for everything else.
[[nodiscard]] std::optional<double> number_of(const Json& value);
// The tree with numbers in place of texts with a unit of their key; percentages stay texts.
[[nodiscard]] Json with_numbers(Json tree);

// Checks of single values, for lists: the element's own pointer is named. An integer may be written
// as 16.0 or 1e6, and both as a text with a unit. Nothing is returned after a problem.
[[nodiscard]] std::optional<double> checked_number(const Json& value, Range range,
                                                   Problems& problems);
[[nodiscard]] std::optional<std::int64_t> checked_integer(const Json& value, Range range,
                                                          Problems& problems);
// A value as error messages show it: compact JSON cut to 40 bytes, "an object" or "a list".
[[nodiscard]] std::string shown(const Json& value);

} // namespace stepsim::io
