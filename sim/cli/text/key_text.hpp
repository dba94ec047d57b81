#pragma once
// Keys of files in words and as JSON, for `stepsim keys` and the pages made from it.
#include <string>
#include <string_view>
#include <vector>

#include "json/fields/key.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// A key with its place in the file: indexes of lists are written as 0, names of maps as "*".
struct PlacedKey {
  std::string pointer;
  const io::Key* key;
};

// All keys below `root`, each object before its own keys. Where a key may be written in several
// forms, the keys of all forms are listed; a pointer that two forms share is listed once.
[[nodiscard]] std::vector<PlacedKey> placed_keys(const io::Key& root);

// "integer in [1, 8]", "number >= 0, seconds", "ring or lp", "object", "list of numbers"
[[nodiscard]] std::string values_text(const io::Key& key);
// The default as a file would have it: "10", "ring". "" for a key without a default, and for a
// default that depends on other keys, which the sentence of the key explains.
[[nodiscard]] std::string default_text(const io::Key& key);

// One key with the conditions under which it has a meaning. Numbers also have their range, words
// their list.
[[nodiscard]] io::Json key_json(const PlacedKey& key, const std::vector<std::string>& conditions);
// The same as paragraphs for the terminal.
[[nodiscard]] std::string key_page(const PlacedKey& key,
                                   const std::vector<std::string>& conditions);

} // namespace stepsim::cli
