#pragma once
// Expands words that stand for an object with one key:
//     "compression": "topk"   ->   "compression": {"method": "topk"}
#include <optional>

#include "document/json.hpp"

namespace stepsim::study {

// The only key of the object that a word at `pointer` stands for: "method" for
// "/communication/compression"; empty if `pointer` has no short form.
[[nodiscard]] std::optional<std::string_view> short_form_key(std::string_view pointer);

// Whether a value at `pointer` has a short form, or may contain a value that has one.
[[nodiscard]] bool may_hold_short_form(std::string_view pointer);

// The scenario with its short forms expanded, so that pointers reach every key.
[[nodiscard]] io::Json with_short_forms_expanded(io::Json scenario);

} // namespace stepsim::study
