#include "cli/shell/app.hpp"
#include "cli/shell/flag_values.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <cstdlib>

#include "cli/help/help_text.hpp"
#include "cli/shell/entry.hpp"

namespace stepsim::cli {

namespace {

// Calibration measures, undisturbed.
bool has_progress(const CommandText& text) {
  return !text.at_once && text.program == CommandText{}.program;
}

void add_common(CLI::App& app, const CommandText& text, Common& common) {
  app.option_defaults()->group(kOutputGroup);
  app.add_flag("--json", common.json, "machine-readable result");
  if (app.get_option_no_throw("--output") == nullptr) { // some commands write a folder
    add_value(app, "-o,--output", common.output, "FILE",
              "where the result goes; default -, standard output");
  }
  if (app.get_option_no_throw("--format") == nullptr) { // help has other formats
    add_value(app, "--format", common.format, "WORD",
              words_of(text.formats) +
                  (text.formats.size() > 1 ? "; default by the name of the file, else the command's"
                                           : ""));
  }
  if (text.chooses) {
    add_value(app, "--columns", common.columns, "NAME,..",
              "keys of the figures that CSV, JSON Lines and tables show, as in the JSON; "
              "varied fields are always shown")
        ->delimiter(',');
  }
  if (app.get_option_no_throw("--force") == nullptr) { // some commands have more to say about it
    app.add_flag("--force", common.force, "lets a result replace a file of another kind");
  }
  app.add_flag("--quiet", common.quiet, "no progress and no notes; warnings stay");
  add_value(app, "--color", common.color, "WORD", "always, never or auto; default auto");
  if (has_progress(text)) {
    add_value(app, "--progress", common.progress, "WORD", "auto, plain or none; default auto");
  }
  app.set_help_flag("-h,--help", "this text");
}

// A negative number is a value and not an unknown option.
bool is_number_like(std::string_view text) {
  return text.size() > 1 && (text[1] == '.' || (text[1] >= '0' && text[1] <= '9'));
}

// CLI11 reports unknown options after missing ones; a misspelt required option would then only be
// "missing".
void refuse_unknown_options(const CLI::App& app, const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "--") {
      return;
    }
    if (argument.size() < 2 || argument[0] != '-' || is_number_like(argument)) {
      continue;
    }
    const bool is_long = argument[1] == '-';
    const std::size_t equals = is_long ? argument.find('=') : std::string::npos;
    const std::string name = is_long ? argument.substr(0, equals) : argument.substr(0, 2);
    const CLI::Option* option = app.get_option_no_throw(name);
    if (option == nullptr) {
      std::vector<std::string> names;
      for (const CLI::Option* each : app.get_options()) {
        for (const std::string& word : each->get_lnames()) {
          names.push_back("--" + word);
        }
      }
      const std::vector<std::string_view> known(names.begin(), names.end());
      const std::string typed = is_long ? name : argument;
      const bool has_set = app.get_option_no_throw("--set") != nullptr;
      if (name == "--over" && has_set) {
        throw UsageError("--over: use compare or sweep");
      }
      if (app.get_option_no_throw("--shape") != nullptr &&
          (name == "--nodes" || name == "--gpus-per-node")) {
        throw UsageError(name + ": unknown option; use --shape NODESxGPUS");
      }
      if (app.get_option_no_throw("--gpus") != nullptr && name == "--nodes") {
        throw UsageError(name + ": unknown option; use --gpus, the number of GPUs of all nodes");
      }
      if (const std::string pointer = pointer_of_flag(name); has_set && !pointer.empty()) {
        const bool follows = equals == std::string::npos && i + 1 < arguments.size();
        const std::string value = equals != std::string::npos ? argument.substr(equals + 1)
                                  : follows                   ? arguments[i + 1]
                                                              : "VALUE";
        throw UsageError(name + ": unknown option; use --set " + pointer + "=" +
                         base::shown_value(value));
      }
      throw UsageError(base::shown_value(typed) + ": unknown option" +
                       base::did_you_mean(is_long ? typed : "-" + typed, known));
    }
    const bool takes_value = option->get_items_expected_max() > 0;
    if (takes_value && equals != std::string::npos && equals + 1 == argument.size()) {
      throw UsageError(name + ": needs a value");
    }
    if (takes_value && equals == std::string::npos && (is_long || argument.size() == 2)) {
      if (i + 1 == arguments.size()) {
        throw UsageError(name + ": needs a value");
      }
      ++i;
    }
  }
}

// CLI11 takes arguments from the back. Surplus ones are let through by the parser, so that the
// error can show them.
void read_arguments(CLI::App& app, const CommandText& text,
                    const std::vector<std::string>& arguments) {
  refuse_unknown_options(app, arguments);
  app.allow_extras();
  const std::string hint = "; see " + full_name(text) + " --help";
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  } catch (const CLI::RequiredError& error) {
    throw UsageError(std::string(error.what()) + hint);
  } catch (const CLI::ArgumentMismatch& error) { // values are there: refuse_unknown_options()
    const std::string_view text_of = error.what();
    throw UsageError(std::string(text_of.substr(0, text_of.find(':'))) + ": given twice");
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  std::vector<std::string> surplus = app.remaining();
  std::erase(surplus, "--"); // the end of the options, which CLI11 counts as left over
  if (!surplus.empty()) {
    throw UsageError(base::shown_value(surplus.front()) + ": surplus argument" + hint);
  }
}

} // namespace

// --help is answered before anything is checked: it must work next to a wrong option.
Common::Common(CLI::App& app, const CommandText& text, const Invocation& invocation,
               const char* folder) {
  if (folder != nullptr) {
    add_value(app, "-o,--output", output, "FOLDER", folder, kOutputGroup);
  }
  add_common(app, text, *this);
  if (invocation.described) {
    invocation.described(page_of(app, text));
    throw HelpWasGiven{};
  }
  std::vector<std::string> notes;
  const std::vector<std::string> arguments = with_shipped_files(app, invocation, notes);
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (std::any_of(arguments.begin(), end,
                  [](const std::string& word) { return word == "--help" || word == "-h"; })) {
    print_text(with_installed_places(command_help(page_of(app, text)), invocation.data_folder));
    throw HelpWasGiven{};
  }
  read_arguments(app, text, arguments);
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && option->get_group() != kOutputGroup) {
      typed.emplace_back(option->get_name(), option->get_group());
    }
  }
  force = app.get_option("--force")->count() > 0;
  embedded = invocation.embedded;
  require_format(text, app, *this);
  require_endings(app);
  refuse_common_files(app);
  require_word("--color", color, {"always", "never", "auto"});
  require_word("--progress", progress, {"auto", "plain", "none"});
  if (has_progress(text)) {
    work.begin(progress, quiet, full_name(text));
  }
  for (const std::string& note : notes) {
    print_note(note, *this);
  }
}

void refuse_others(const Common& common, std::initializer_list<std::string_view> read,
                   const std::string& why) {
  for (const auto& [name, group] : common.typed) {
    if (std::ranges::find(read, name) == read.end() &&
        std::ranges::find(read, group) == read.end()) {
      throw UsageError(name + ": " + why);
    }
  }
}

int default_jobs() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

// All words are listed where none is near.
void require_word(std::string_view flag, std::string_view value,
                  std::span<const std::string_view> words) {
  if (std::ranges::find(words, value) == words.end()) {
    const std::string nearest = base::did_you_mean(value, words);
    throw UsageError(std::string(flag) + " " + base::shown_value(value) + ": unknown" +
                     (nearest.empty() ? ", must be one of " + base::joined(words) : nearest));
  }
}

// NO_COLOR and CLICOLOR_FORCE are conventions of terminals; without them a terminal that knows
// colours has them.
bool use_color(std::string_view choice, Stream stream) {
  if (choice != "auto") {
    return choice == "always";
  }
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? std::string_view() : std::string_view(value);
  };
  if (!variable("NO_COLOR").empty()) {
    return false;
  }
  if (std::getenv("CLICOLOR_FORCE") != nullptr && variable("CLICOLOR_FORCE") != "0") {
    return true;
  }
  const int descriptor = stream == Stream::output ? STDOUT_FILENO : STDERR_FILENO;
  return isatty(descriptor) != 0 && variable("TERM") != "dumb";
}

// A study with several rounds counts each from 0: a falling count starts a new line of progress.
std::function<void(std::int64_t, std::int64_t)> counting(const Common& common) {
  return [&common, last = std::int64_t{-1}](std::int64_t done, std::int64_t total) mutable {
    if (last < 0 || done < last) {
      common.work.count(total, done);
    }
    last = done;
    common.work.update(done);
  };
}

// Measured when the result is written, so that reading and planning are part of it.
io::Json meta(const Invocation& invocation) {
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - invocation.started;
  return io::Object{{"tool", "stepsim"},
                    {"version", version()},
                    {"git", git_hash()},
                    {"command", invocation.command_line},
                    {"wall_s", wall.count()}};
}

io::Json with_meta(io::Json tree, const Invocation& invocation) {
  tree.set("meta", meta(invocation));
  return tree;
}

} // namespace stepsim::cli
