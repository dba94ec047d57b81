// stepsim examples DIR: everything is compared before anything is copied, so that a refused command
// changes nothing and a repeated one succeeds.
#include "cli/commands/commands.hpp"

#include <CLI/CLI.hpp>

#include "base/quantity.hpp"
#include "base/shell_word.hpp"
#include "document/file.hpp"

namespace stepsim::cli {

namespace {

namespace fs = std::filesystem;

constexpr CommandText kExamplesText = answered_at_once({
    "examples",
    "DIR",
    "Copies the shipped examples and traces into DIR/examples and DIR/traces, to read and to "
    "change.\n"
    "Commands find them without a copy, too: examples/NAME and traces/NAME lead to the shipped "
    "file\n"
    "where the working folder has none.",
    "stepsim examples .",
    "The files are described in docs/file-formats.md.",
    kJsonOrTable,
});

// From the files of the data folder to those below `target`.
std::map<fs::path, fs::path> copies_to(const fs::path& data, const fs::path& target) {
  std::map<fs::path, fs::path> copies;
  for (const std::string_view folder : {"examples", "traces"}) {
    for (const auto& entry : fs::recursive_directory_iterator(data / folder)) {
      if (entry.is_regular_file()) {
        copies[entry.path()] = target / entry.path().lexically_relative(data);
      }
    }
  }
  return copies;
}

} // namespace

int examples(const Invocation& invocation) {
  std::string target;
  CLI::App app;
  add_argument(app, "DIR", target, "folder that gets examples/ and traces/; made if it is missing");
  Common common(app, kExamplesText, invocation);
  try {
    const auto copies = copies_to(invocation.data_folder, target);
    for (const auto& [from, to] : copies) {
      if (!common.force && fs::exists(to) &&
          io::read_text(from.string()) != io::read_text(to.string())) {
        throw UsageError(to.string() + ": exists with another content; --force replaces it");
      }
    }
    for (const auto& [from, to] : copies) {
      fs::create_directories(to.parent_path());
      if (!io::same_file(from.string(), to.string())) {
        fs::copy_file(from, to, fs::copy_options::overwrite_existing);
      }
    }
    const auto count = static_cast<std::int64_t>(copies.size());
    const std::string text = base::counted(count, "file") + " in " + target + "\nnext: cd " +
                             base::quoted_word(target) +
                             " && stepsim run examples/quickstart.scenario.json\n";
    const io::Json tree(io::Object{{"folder", target}, {"files", count}});
    write_document(common, {.text = [&] { return text; }, .tree = [&] { return tree; }});
  } catch (const fs::filesystem_error& error) {
    const fs::path& path = error.path2().empty() ? error.path1() : error.path2();
    throw SimulationError(path.string() +
                          ": cannot copy: " + io::reason_text(error.code().value()));
  }
  return kOk;
}

} // namespace stepsim::cli
