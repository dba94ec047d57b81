// A result has the format that a flag or the name of its file asks for; a name that asks for
// something else, such as a picture, is refused before any work.
#include "cli/shell/output.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <system_error>

#include "document/file.hpp"
#include "scenario/file_names.hpp"

namespace stepsim::cli {

namespace {

// "json" of "out/t.json.gz"; empty for names without one, and for what is no ending: "run.2",
// "resnet50.10gbe-as-named".
std::string_view ending_of(std::string_view path) {
  constexpr std::size_t kLongest = 5;
  path.remove_suffix(path.ends_with(".gz") ? 3 : 0);
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) {
    return {};
  }
  const std::string_view ending = name.substr(dot + 1);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool plain =
      std::ranges::all_of(ending, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  const bool word = plain && ending.size() <= kLongest && std::ranges::any_of(ending, is_letter);
  return word ? ending : std::string_view();
}

// Endings that say how a result is written. Any text may be called .txt, .log or .out.
std::optional<Format> format_of_ending(std::string_view ending) {
  static constexpr std::array<std::pair<std::string_view, Format>, 9> kEndings{
      {{"json", Format::json},
       {"jsonl", Format::jsonl},
       {"csv", Format::csv},
       {"html", Format::html},
       {"md", Format::markdown},
       {"svg", Format::svg},
       {"txt", Format::table},
       {"log", Format::table},
       {"out", Format::table}}};
  const auto* row =
      std::ranges::find(kEndings, ending, [](const auto& each) { return each.first; });
  return row == kEndings.end() ? std::nullopt : std::optional(row->second);
}

bool is_known_ending(std::string_view ending) {
  return ending.empty() || format_of_ending(ending).has_value();
}

// The ending of the file that an option writes: "json" where help calls its value FILE.json[.gz];
// empty for -o, which has one per format. Nothing for an option that writes none.
std::optional<std::string> written_ending(const CLI::Option& option) {
  if (option.check_name("-o")) {
    return "";
  }
  const std::string type = option.get_type_name();
  const std::string plain = type.substr(0, type.find('['));
  return type.starts_with("FILE.") ? std::optional(plain.substr(plain.rfind('.') + 1))
                                   : std::nullopt;
}

bool is_output(const CLI::Option& option) { return written_ending(option).has_value(); }

} // namespace

// "json, jsonl, csv or table".
std::string words_of(std::span<const Format> formats) {
  return base::joined(
      base::collected<std::string_view>(formats, [](Format format) { return kFormats[format]; }),
      " or ");
}

// "stepsim run".
std::string full_name(const CommandText& text) {
  return std::string(text.program) + " " + std::string(text.name);
}

std::string asked_format(const Common& common) {
  return !common.format.empty() ? "--format " + common.format
                                : "-o " + base::shown_value(common.output);
}

// Also what the name of the file asks for: `-o x.csv` must not hold JSON. Text of a command without
// tables in Markdown may stand in a file .md all the same, and what --emit writes in any file.
void require_format(const CommandText& text, const CLI::App& app, Common& common) {
  const auto writes = [&](Format format) {
    return std::ranges::find(text.formats, format) != text.formats.end();
  };
  if (common.format.empty() && !common.json && common.output.ends_with(".md") &&
      !writes(Format::markdown) && writes(Format::table)) {
    common.format = kFormats[Format::table];
  }
  if (common.format == "npz" || (common.format.empty() && common.output.ends_with(".npz"))) {
    throw UsageError(".npz is written no more: give -o FILE.csv or -o FILE.jsonl" +
                     std::string(text.chooses ? " with --columns NAME,.." : ""));
  }
  if (!common.format.empty()) {
    require_word("--format", common.format, kFormats.all());
  }
  const Format format = format_of(common, text.formats.front());
  const bool emits = text.emits && app.count("--emit") > 0;
  const bool by_name = common.format.empty() && !common.json && !emits;
  if (!writes(format) || (by_name && !is_known_ending(ending_of(common.output)))) {
    throw UsageError(asked_format(common) + ": " + full_name(text) + " writes " +
                     words_of(text.formats) + " only");
  }
}

// A picture or a spreadsheet is not what these flags write.
void require_endings(const CLI::App& app) {
  for (const CLI::Option* option : app.get_options()) {
    const std::string ending = written_ending(*option).value_or("");
    if (ending.empty() || option->results().empty()) {
      continue;
    }
    const std::string& file = option->results().back();
    std::error_code error;
    const bool is_device = std::filesystem::exists(file, error) && !io::is_regular(file);
    const std::string_view found = ending_of(file);
    if (!found.empty() && !found.starts_with(ending) && !is_device) { // .jsonl is JSON too
      const bool packs = option->get_type_name().find("[.gz]") != std::string::npos;
      throw UsageError(option->get_name() + " " + base::shown_value(file, 200) + ": writes ." +
                       ending + (packs ? " or ." + ending + ".gz" : "") + " only");
    }
  }
}

// A path is a word, or stands behind "=" or "," in one: --set /workload/trace=traces/a.json.
std::vector<std::string> with_shipped_files(const CLI::App& app, const Invocation& invocation,
                                            std::vector<std::string>& notes) {
  std::vector<std::string> arguments = invocation.arguments;
  const auto names_output = [&](const std::string& flag) {
    const CLI::Option* option = flag.starts_with('-') ? app.get_option_no_throw(flag) : nullptr;
    return option != nullptr && is_output(*option);
  };
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string& word = arguments[i];
    if (names_output(word.substr(0, word.find('='))) || (i > 0 && names_output(arguments[i - 1]))) {
      continue;
    }
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t end = std::min(word.find_first_of("=,", at), word.size());
      const std::string path = word.substr(at, end - at);
      const std::string place = study::shipped_place(invocation.data_folder, path);
      if (!place.empty()) {
        word.replace(at, path.size(), place);
        notes.push_back("note: " + path + " is not here, " + place + " is taken");
      }
      at += (place.empty() ? path : place).size() + 1;
    }
  }
  return arguments;
}

// Before any work: a result must not replace what it is made from, nor another result.
void refuse_common_files(const CLI::App& app) {
  const std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::Option* output : options) {
    if (!is_output(*output) || output->results().empty()) {
      continue;
    }
    const std::string& target = output->results().back();
    const std::string flag = (output->check_name("-o") ? "-o" : output->get_name()) + " " +
                             base::shown_value(target, 200) + ": ";
    for (const CLI::Option* other : options) {
      for (const std::string& word : other->results()) {
        if (other == output || target == "-" || (word != target && !io::same_file(word, target))) {
          continue;
        }
        if (!is_output(*other) && io::same_file(word, target)) {
          throw UsageError(flag + "is an input too; a result does not replace what it was made "
                                  "from");
        }
        if (is_output(*other)) {
          throw UsageError(flag + (other->check_name("-o") ? "-o" : other->get_name()) +
                           " names the same file");
        }
      }
    }
  }
}

// --format wins over --json, and both over the name of the file.
Format format_of(const Common& common, Format fallback) {
  if (!common.format.empty()) {
    return *kFormats.find(common.format);
  }
  if (common.json) {
    return Format::json;
  }
  return format_of_ending(ending_of(common.output)).value_or(fallback);
}

} // namespace stepsim::cli
