#pragma once
// `--param NAME=VALUE` sets rare keys of a collective, which have no flag. The row of the key
// decides which values NAME may have.
#include <span>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "document/fields/key.hpp"
#include "document/json.hpp"

namespace stepsim::cli {

struct Param {
  std::string pointer; // pointer of the key in a collective: "/options/cost_form"
  const io::Key* row;
};

// Sets one NAME=VALUE in `tree`; a later value of the same name replaces an earlier one. Throws
// UsageError with the nearest known name or word, or with the range of the number.
void set_param(io::Json& tree, std::string_view text, std::span<const Param> params);
// The help of --param in one sentence: every name, its words and its default.
[[nodiscard]] std::string params_description(std::span<const Param> params);

// The kind of quantity of a key whose value is a number, and a number as the JSON value of the key.
[[nodiscard]] base::QuantityKind quantity_of(const io::Key& row);
[[nodiscard]] io::Json number_json(const io::Key& row, double value);

} // namespace stepsim::cli
