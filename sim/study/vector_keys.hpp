#pragma once
// The keys of a vector, which is given by all its values or by its nonzero entries:
//   [10, 0, 0, 0, 3.5]  or  {"index": [0, 4], "value": [10, 3.5]}
#include <array>
#include <string_view>

#include "document/fields/key.hpp"

namespace stepsim::study::keys {

using namespace io::rows;

inline constexpr std::array kIndex{
    integer("index", "Index of an entry, from 0.").in(io::at_least(0)).example("4")};
inline constexpr std::array kValue{number("value", "A value.").plain().example("3.5")};

inline constexpr std::array kEntriesKeys{
    list("index", kIndex, "Indices, strictly ascending.").example("[0, 4]").required(),
    list("value", kValue, "As many values.").example("[10, 3.5]").required()};

inline constexpr io::Key kEntries = object("vector", kEntriesKeys, "The entries that are not zero.")
                                        .example(R"({"index": [0, 4], "value": [10, 3.5]})");

inline constexpr std::array kVectorForms{
    list("vector", kValue, "All values.").example("[10, 0, 0, 0, 3.5]"), kEntries};

[[nodiscard]] constexpr io::Key vector_key(std::string_view name, std::string_view sentence) {
  return either(name, kVectorForms, sentence).example(R"({"index": [0, 4], "value": [10, 3.5]})");
}

inline constexpr std::array kVectorElement{vector_key("vector", "The vector of a rank.")};

// A key whose value is a list with one vector per rank.
[[nodiscard]] constexpr io::Key vectors_key(std::string_view name, std::string_view sentence) {
  return list(name, kVectorElement, sentence).example(R"([{"index": [0, 4], "value": [10, 3.5]}])");
}

} // namespace stepsim::study::keys
