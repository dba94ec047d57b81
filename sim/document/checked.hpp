#pragma once
// Checks single values of a file: numbers, integers and texts with a unit.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "document/json.hpp"
#include "document/problems.hpp"
#include "document/range.hpp"

namespace stepsim::io {

// The kinds of the two numbers of each pair in the list with this key: `table` has [bytes,
// seconds], `cdf` [bytes, share]. Null for other keys.
struct PairKinds {
  std::string_view key;
  base::QuantityKind first, second;
};
[[nodiscard]] const PairKinds* pair_kinds(std::string_view key);

// The kind of quantity (time, size, rate, ..) of a number at this place. It follows from the last
// key of the pointer: the end of the key gives the unit, and a key without a unit is a ratio.
// Elements of a list have the kind of the list's key, those of pairs that of pair_kinds(). Empty
// for keys that end in per_byte_s, which do not take a text with a unit.
[[nodiscard]] std::optional<base::QuantityKind> kind_of_place(std::string_view pointer);

// The number that a text at this place means: in a unit of the key ("25Gbps" at
// /cluster/network/bandwidth_Bps, "10ms" at /ready_s/3), or a percentage if the key has no unit.
// Empty for all other texts, such as the words that some keys allow besides numbers.
[[nodiscard]] std::optional<Json> quantity_at(std::string_view pointer, std::string_view text);
// The value of a number, or of a text with a unit, read by quantity_at() for the place of `value`
// in its file. Empty for everything else.
[[nodiscard]] std::optional<double> number_of(const Json& value);
// The tree in which every text with a unit of its key is a number in SI units; percentages stay
// texts.
[[nodiscard]] Json with_numbers(Json tree);

// Check one value, for example an element of a list; the problem names the place of the value. An
// integer may be written as 16.0 or 1e6. Numbers and integers may be texts with a unit, but an
// integer is never a percentage. Empty after a problem.
[[nodiscard]] std::optional<double> checked_number(const Json& value, Range range,
                                                   Problems& problems);
[[nodiscard]] std::optional<std::int64_t> checked_integer(const Json& value, Range range,
                                                          Problems& problems);
// The value for error messages: compact JSON of at most 40 bytes, "an object" or "a list".
[[nodiscard]] std::string shown(const Json& value);

} // namespace stepsim::io
