#pragma once
// The shape of every command. `main` looks up the first word in the table of commands and calls its
// function with the other words. A command is one .cpp: an options struct, a local CLI::App that
// fills it, and the work. The result goes to standard output, everything else to standard error.
//
//     int check(const Invocation &invocation) {
//       CheckOptions options;
//       CLI::App app;
//       app.add_option("FILE", options.files, "files to check")->required();
//       const Common common(app, kText, invocation);
//       ...
//       return kOk;
//     }
//
// Errors are exceptions (base/error.hpp); `main` prints them and maps them to the exit code. No
// header includes CLI11.

#include "base/collected.hpp"
#include "base/words.hpp"
#include "cli/shell/progress.hpp"
#include "document/json.hpp"

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace stepsim::cli {

enum ExitCode : int {
  kOk = 0,
  kSimulationError = 1,
  kUsage = 2,
  kBadInput = 3,
  kTargetNotMet = 4, // a check or target failed, a merge is incomplete
  kInterrupted = 130,
  kClosedPipe = 141, // 128 + SIGPIPE, as shells report it; no message
};

struct CommandPage;
struct CommandText;

// The group of the options that every command has.
inline constexpr const char* kOutputGroup = "Output";

// The words that the user typed, and the folder with the shipped data.
struct Invocation {
  std::vector<std::string> arguments;            // after the name of the command
  std::string command_line;                      // the whole command, for `meta`
  std::string data_folder;                       // holds models/ and topologies/
  std::chrono::steady_clock::time_point started; // start of the program, for wall_s
  // If set, Common calls it with the page of the command (cli/help/help_text.hpp).
  std::function<void(const CommandPage&)> described{};
  // Whether another command runs this one. Warnings are then not printed, because they are in the
  // records that the command writes.
  bool embedded = false;
};

// Thrown where a command has nothing more to do, because --help was printed or
// `Invocation::described` was called.
struct HelpWasGiven {};

// Options that every command has, as typed.
struct Common {
  Common() = default;
  // Adds the common options and reads the arguments into the variables to which the options of
  // `app` are bound. Options that the command should list in a group carry `->group("...")`; their
  // description ends with default and unit. A command that writes a folder says of -o what is in
  // it: `folder`. Throws UsageError: unknown option with the nearest known one, missing or surplus
  // argument, a format that the command does not write, an output that is one of the files given as
  // inputs or another output. Throws HelpWasGiven.
  Common(CLI::App& app, const CommandText& text, const Invocation& invocation,
         const char* folder = nullptr);

  bool json = false;
  bool quiet = false;
  bool force = false;               // replaces a file of another kind
  std::string output = "-";         // file, "-" = standard output
  std::string format;               // word of a Format; "" = see format_of()
  std::vector<std::string> columns; // keys of --columns; empty = the command's own columns
  // Flags and arguments that were typed, except those of every command, each with its group in
  // help.
  std::vector<std::pair<std::string, std::string>> typed;
  std::string color = "auto";
  std::string progress = "auto";
  bool embedded = false; // Invocation::embedded
  mutable Progress work; // begun; the command may count points with counting()
};

enum class Format { json, jsonl, csv, table, html, markdown, svg };
inline constexpr auto kFormats = base::words<Format>();
// The formats of a command whose CommandText does not set `formats`.
inline constexpr std::array kAllFormats{Format::json, Format::jsonl, Format::csv, Format::table};
// The formats of commands that print tables.
inline constexpr std::array kTableFormats{Format::json,  Format::jsonl, Format::csv,
                                          Format::table, Format::html,  Format::markdown};
inline constexpr std::array kJsonOrTable{Format::json, Format::table};
inline constexpr std::array kJsonOnly{Format::json};
inline constexpr std::array kJsonOrCsv{Format::json, Format::csv};

// The text of --help, without the options.
struct CommandText {
  std::string_view name;                         // "run"
  std::string_view usage;                        // positional arguments: "SCENARIO"
  std::string_view sentence;                     // what it does, one or two sentences
  std::string_view examples;                     // one per line
  std::string_view see;                          // where the file formats are described
  std::span<const Format> formats = kAllFormats; // what the command can write
  std::string_view program = "stepsim";
  bool at_once = false; // the command only looks up tables, and has no --progress
  bool chooses = false; // the command has --columns
  bool emits = false;   // with --emit it writes a file of any ending
};

// The text of a command that has no --progress.
constexpr CommandText answered_at_once(CommandText text) {
  text.at_once = true;
  return text;
}

// The text of a command that has --columns.
constexpr CommandText choosing_columns(CommandText text) {
  text.chooses = true;
  return text;
}

// The text of a command whose --emit writes the file of another program.
constexpr CommandText emitting(CommandText text) {
  text.emits = true;
  return text;
}

// Adds an option whose value the help calls `type`, to the group that options have by default or to
// another one.
template <class App, class Value>
auto* add_value(App& app, const std::string& names, Value& value, const char* type,
                const std::string& sentence, const char* group = nullptr) {
  auto* option = app.add_option(names, value, sentence)->type_name(type);
  return group == nullptr ? option : option->group(group);
}

// Adds an argument that must be given.
template <class App, class Value>
void add_argument(App& app, const char* name, Value& value, const std::string& sentence) {
  app.add_option(name, value, sentence)->required();
}

// What `work` gives. Its usage errors are about the value of a flag, with which the error begins.
template <class Work> auto of_flag(const std::string& flag, const Work& work) {
  try {
    return work();
  } catch (const UsageError& error) {
    throw UsageError(flag + error.what());
  }
}

// The format of the output: --format, else --json, else the extension of -o, else `fallback`.
[[nodiscard]] Format format_of(const Common& common, Format fallback);

// Returns a callback that shows how far a sweep or search is. Call it with the number of points
// that are done once before any work, and then from time to time. The first call begins a round of
// `total` points, of which `done` need no work; a call with a smaller `done` than the last one
// begins another round. `common` must outlive the callback.
[[nodiscard]] std::function<void(std::int64_t done, std::int64_t total)>
counting(const Common& common);

// Whether to colour what goes to standard output or standard error (IO 13). `choice`: always, never
// or auto.
enum class Stream { output, error };
[[nodiscard]] bool use_color(std::string_view choice, Stream stream);

// {"tool", "version", "git", "command", "wall_s"}: the only part of a result that may differ
// between equal runs.
[[nodiscard]] io::Json meta(const Invocation& invocation);
[[nodiscard]] io::Json with_meta(io::Json tree, const Invocation& invocation);

// Throws UsageError "--seed: WHY" for what was typed, and is neither a flag or argument of `read`,
// the names and groups of what this way of working reads, nor a flag of every command.
void refuse_others(const Common& common, std::initializer_list<std::string_view> read,
                   const std::string& why);

// Default number of threads: the hardware threads of this machine, at least 1.
[[nodiscard]] int default_jobs();

// Throws UsageError `--format jsn: unknown, did you mean json?` unless `value` is one of `words`.
void require_word(std::string_view flag, std::string_view value,
                  std::span<const std::string_view> words);

inline void require_word(std::string_view flag, std::string_view value,
                         std::initializer_list<std::string_view> words) {
  require_word(flag, value, std::span(words.begin(), words.size()));
}

// Reads the word that was typed for `flag` into `value`, which an empty text leaves as it is.
template <class Value, class Words>
void read_word(std::string_view flag, const std::string& word, const Words& words, Value& value) {
  if (!word.empty()) {
    require_word(flag, word, words.all());
    value = *words.find(word);
  }
}

} // namespace stepsim::cli
