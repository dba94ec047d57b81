#pragma once
// Writes the JSON Schema (draft-07) of a kind of file from the rows of its keys.

#include "document/fields/key.hpp"

namespace stepsim::io {

// The first keys of a file with a header.
inline constexpr std::array kHeaderKeys{
    rows::text("$schema", "Name of this schema, for editors."),
    rows::integer("schema_version", "Version of the format.").in(between(1, 1)).by_default(1),
    rows::text("kind", "Kind of the file."),
    rows::text("name", "Name shown in results and tables.", R"("my-run")")};

// A kind of file: the row of its root object, and complete example files as JSON text. Readers,
// schemas and pages are based on it.
struct FileKind {
  std::string_view kind;
  const Key* root;
  std::span<const std::string_view> examples;
  bool has_header = true; // false: a written file has only the keys of `root`
};

// A schema for editors. It has the description, range, allowed words and default of every key, the
// required keys, and the groups of keys of which exactly one or at least one is required. All other
// rules about several keys are checked by the parsers only.
[[nodiscard]] Json schema(const FileKind& file);

// The keys of an object that have a default, with the default; an inner object without a default,
// or the first of several forms where it is an object, gets the defaults of its own keys.
[[nodiscard]] Json defaults_of(const Key& object);

} // namespace stepsim::io
