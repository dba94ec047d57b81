#pragma once
// The JSON Schema (draft-07) of a kind of file, written from the rows of its keys.
#include <array>
#include <span>
#include <string_view>

#include "json/fields/key.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// The first keys of a file with a header.
inline constexpr std::array kHeaderKeys{
    rows::text("$schema", "Name of this schema, for editors."),
    rows::integer("schema_version", "Version of the format.").in(between(1, 1)).by_default(1),
    rows::text("kind", "Kind of the file."),
    rows::text("name", "Name shown in results and tables.").example(R"("my-run")")};

// A kind of file: the row of its root object, and whole files as examples, each as JSON text.
// Readers, schemas and pages start from here.
struct FileKind {
  std::string_view kind;
  const Key* root;
  std::span<const std::string_view> examples;
  bool has_header = true; // false: what a command writes has the keys of `root` and no others
};

// A schema that editors can use: sentences, ranges, words, defaults and required keys. Rules over
// several keys are left to the parsers, except for the groups of which one must be given.
[[nodiscard]] Json schema(const FileKind& file);

// The keys of an object that have a default, with it; an object below it that has none is made of
// the defaults of its own keys.
[[nodiscard]] Json defaults_of(const Key& object);

} // namespace stepsim::io
