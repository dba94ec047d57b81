// stepsim schema KIND: the JSON Schema of a kind of file. Nothing is read: schemas are made from
// the rows that the readers use, so that they cannot be older than the program.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "cli/text/key_text.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kSchemaText = answered_at_once({
    "schema",
    "KIND",
    "Prints the JSON Schema (draft-07) of a kind of file. Editors that know JSON Schema complete\n"
    "keys and check values with it; the files name it in their key $schema.",
    "stepsim schema scenario\n"
    "stepsim schema scenario -o scenario.schema.json",
    "What a key means and when it counts: stepsim keys POINTER.",
    kJsonOnly,
});

} // namespace

// The kinds are listed in help from the same rows that make the schema.
int schema(const Invocation& invocation) {
  std::string kind;
  CLI::App app;
  const std::vector<io::FileKind> kinds = file_kinds();
  const auto known = base::collected<std::string_view>(kinds, &io::FileKind::kind);
  add_argument(app, "KIND", kind, "kind of the file: " + base::joined(known));
  Common common(app, kSchemaText, invocation);
  write_tree(common, io::schema(base::row_named(kinds, &io::FileKind::kind, kind, "", "KIND")));
  return kOk;
}

} // namespace stepsim::cli
