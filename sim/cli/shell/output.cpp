// Standard output carries the result and nothing else; everything here that is not the result goes
// to standard error. Text that users wrote is made printable on its way to a terminal.

#include "cli/shell/output.hpp"

#include "base/printable.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "scenario/file_names.hpp"

#include <CLI/CLI.hpp>
#include <iostream>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <system_error>
#include <unistd.h>

namespace stepsim::cli {

namespace {

// Writes the line at once, so that lines of several processes on one terminal stay whole.
void print_whole_line(const std::string& line) { std::cerr << line + "\n"; }

// A result has the format that a flag or the name of its file asks for; a name that asks for
// something else, such as a picture, is refused before any work.

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

void write_named(const std::string& path, std::string_view text) {
  const DelayInterrupts delay;
  io::write_file(path, text);
}

void write_named(const Common& common, const std::string& path, std::string_view text) {
  refuse_other_kind(common, path, text);
  write_named(path, text);
}

// The progress line ends before anything else reaches the terminal.
void write_output(const Common& common, std::string_view text) {
  common.work.end();
  refuse_other_kind(common, common.output, text);
  if (format_of(common, Format::table) != Format::table) {
    write_named(common.output, text);
    return;
  }
  const std::string printable = base::printable_lines(text);
  const std::optional<std::size_t> columns = terminal_columns(common);
  write_named(common.output, columns ? folded_tables(printable, *columns) : printable);
}

std::optional<std::size_t> terminal_columns(const Common& common) {
  winsize size{};
  const bool shown = common.output == "-" && isatty(STDOUT_FILENO) != 0 &&
                     ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return shown ? std::optional<std::size_t>(size.ws_col) : std::nullopt;
}

void print_text(std::string_view text) { write_named("-", base::printable_lines(text)); }

// Where the result has standard output, people read standard error.
void print_beside(std::string_view text, const Common& common) {
  if (common.quiet) {
    return;
  }
  if (common.output == "-") {
    print_error_lines(text);
  } else {
    print_text(text);
  }
}

void print_warnings(std::span<const std::string> warnings, const Common& common) {
  if (common.embedded) {
    return;
  }
  const bool color = use_color(common.color, Stream::error);
  common.work.hide();
  for (const std::string& warning : warnings) {
    print_whole_line((color ? "\x1b[33mwarning:\x1b[0m " : "warning: ") + base::printable(warning));
  }
}

void print_note(std::string_view note, const Common& common) {
  if (!common.quiet) {
    common.work.hide();
    print_whole_line(base::printable(note));
  }
}

void print_notes(std::span<const std::string> notes, const Common& common) {
  for (const std::string& note : notes) {
    print_note(note, common);
  }
}

void print_error_lines(std::string_view lines) {
  std::cerr << base::printable_lines(lines) << std::flush;
}

int report_error(std::string_view message, int code, std::string_view choice) {
  const bool color = use_color(choice, Stream::error);
  print_whole_line((color ? "\x1b[31merror:\x1b[0m " : "error: ") + base::printable(message));
  return code;
}

void write_tree(const Common& common, const io::Json& tree) {
  io::require_finite(tree);
  write_output(common, io::pretty(tree));
}

namespace fs = std::filesystem;

ScratchFolder::ScratchFolder()
    : path_(fs::temp_directory_path() / ("stepsim-" + std::to_string(::getpid()))) {
  fs::create_directories(path_);
}

ScratchFolder::~ScratchFolder() {
  std::error_code error;
  fs::remove_all(path_, error);
}

void require_parent(const fs::path& folder) {
  const fs::path parent = fs::absolute(folder).lexically_normal().parent_path();
  std::error_code error;
  if (!fs::is_directory(parent, error)) {
    throw SimulationError(folder.string() + ": cannot be made: no folder " + parent.string());
  }
}

io::Json simulation_meta(const Invocation& invocation, std::uint64_t events,
                         std::optional<std::uint64_t> packet_hops, double simulation_s) {
  io::Json tree = meta(invocation);
  if (simulation_s > 0) {
    tree.set("events_per_s", static_cast<double>(events) / simulation_s);
    if (packet_hops) {
      tree.set("packet_hops_per_s", static_cast<double>(*packet_hops) / simulation_s);
    }
  }
  rusage usage{}; // Linux counts in units of 1024 bytes
  const bool known = getrusage(RUSAGE_SELF, &usage) == 0;
  tree.set("peak_rss_bytes", known ? std::int64_t{usage.ru_maxrss} * 1024 : 0);
  return tree;
}

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
  const CLI::Option* output = app.get_option_no_throw("-o");
  const bool folder = output != nullptr && output->get_type_name() == "FOLDER";
  const bool by_name = common.format.empty() && !common.json && !emits && !folder;
  const std::string_view ending = ending_of(common.output);
  if (!writes(format) || (by_name && !ending.empty() && !format_of_ending(ending))) {
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
  return common.json ? Format::json : format_of_ending(ending_of(common.output)).value_or(fallback);
}

} // namespace stepsim::cli
