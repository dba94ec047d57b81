// PyTorch names element types in two ways, "c10::BFloat16" and "float"; both become the words of
// traces.
#include "import/kineto/kineto_events.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stepsim::io {

std::optional<DtypeWord> dtype_of_pytorch(std::string_view name) {
  if (name.starts_with("c10::")) {
    name.remove_prefix(5);
  }
  std::string lower(name);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  if (lower.starts_with("float8")) {
    return DtypeWord{"float8", 1};
  }
  struct Row {
    std::string_view pytorch;
    DtypeWord word;
  };
  static constexpr std::array kRows{
      Row{"float", {"float32", 4}},       Row{"half", {"float16", 2}},
      Row{"bfloat16", {"bfloat16", 2}},   Row{"double", {"float64", 8}},
      Row{"long", {"int64", 8}},          Row{"long int", {"int64", 8}},
      Row{"int", {"int32", 4}},           Row{"char", {"int8", 1}},
      Row{"signed char", {"int8", 1}},    Row{"byte", {"uint8", 1}},
      Row{"unsigned char", {"uint8", 1}}, Row{"bool", {"bool", 1}},
  };
  const auto row = std::ranges::find(kRows, lower, &Row::pytorch);
  return row == kRows.end() ? std::nullopt : std::optional(row->word);
}

} // namespace stepsim::io
