#pragma once
// The kinds of files, and their keys as text and as JSON, for `stepsim keys`, `stepsim schema` and
// the pages made from them.

#include "document/fields/schema.hpp"

namespace stepsim::cli {

// A key and its position in a file: list indices are written as 0, names of maps as "*".
struct PlacedKey {
  std::string pointer;
  const io::Key* key;
};

// All keys in `root`, each object before its own keys. If a key has several forms, the keys of all
// forms are listed; a pointer that two forms share is listed once.
[[nodiscard]] std::vector<PlacedKey> placed_keys(const io::Key& root);

// The allowed values: "integer in [1, 8]", "number >= 0, seconds", "ring or lp", "object", "list of
// numbers".
[[nodiscard]] std::string values_text(const io::Key& key);
// The default as written in a file: "10", "ring". "" for a key without a default, and for a default
// that depends on other keys and is explained in the sentence of the key.
[[nodiscard]] std::string default_text(const io::Key& key);

// One key as JSON, with the conditions under which it has an effect. Numbers also have their range,
// words their list.
[[nodiscard]] io::Json key_json(const PlacedKey& key, const std::vector<std::string>& conditions);
// One key as paragraphs of text for the terminal.
[[nodiscard]] std::string key_page(const PlacedKey& key,
                                   const std::vector<std::string>& conditions);

// The table of file formats that stepsim reads or writes: one row per value of the key `kind`.

// The rows, sorted by kind. `stepsim schema KIND` prints the JSON Schema of a row; a test compares
// every row with its file under schemas/.
[[nodiscard]] std::vector<io::FileKind> file_kinds();

} // namespace stepsim::cli
