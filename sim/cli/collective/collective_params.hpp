#pragma once
// `--param NAME=VALUE`: rare keys of a collective, which have no flag of their own. What a name
// takes follows from the row of its key.
#include <span>
#include <string>
#include <string_view>

#include "base/quantity.hpp"
#include "json/fields/key.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

struct Param {
  std::string pointer; // of the key in a collective: "/options/cost_form"
  const io::Key* row;
};

// Sets one NAME=VALUE in a tree; a later one replaces an earlier one of the same name. Throws
// UsageError with the nearest known name or word, or with the range of the number.
void set_param(io::Json& tree, std::string_view text, std::span<const Param> params);
// One sentence for the help of --param, with every name, the words that it takes and its default.
[[nodiscard]] std::string params_description(std::span<const Param> params);

// What is measured by a number of a key, and the number as its file has it.
[[nodiscard]] base::QuantityKind quantity_of(const io::Key& row);
[[nodiscard]] io::Json number_json(const io::Key& row, double value);

} // namespace stepsim::cli
