#include "cli/shell/app.hpp"
#include "cli/shell/output.hpp"

#include <CLI/CLI.hpp>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <thread>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/shell/help.hpp"
#include "cli/shell/version.hpp"
#include "json/file.hpp"
#include "json/file_write.hpp"

namespace stepsim::cli {

namespace {

constexpr std::array<std::string_view, 3> kColors{"always", "never", "auto"};
constexpr std::array<std::string_view, 3> kProgress{"auto", "plain", "none"};
constexpr const char* kGroup = "Output";

std::string_view word_of(Format format) {
  switch (format) {
  case Format::table:
    return "table";
  case Format::json:
    return "json";
  case Format::jsonl:
    return "jsonl";
  case Format::csv:
    return "csv";
  case Format::html:
    return "html";
  case Format::markdown:
    return "markdown";
  }
  return "";
}

// "json, jsonl, csv or table".
std::string words_of(std::span<const Format> formats) {
  std::string text;
  for (std::size_t i = 0; i < formats.size(); ++i) {
    text.append(i == 0 ? "" : i + 1 == formats.size() ? " or " : ", ").append(word_of(formats[i]));
  }
  return text;
}

// "stepsim run".
std::string full_name(const CommandText& text) {
  return std::string(text.program) + " " + std::string(text.name);
}

void add_common(CLI::App& app, const CommandText& text, Common& common) {
  app.add_flag("--json", common.json, "machine-readable result")->group(kGroup);
  app.add_option("-o,--output", common.output, "where the result goes; default -, standard output")
      ->type_name("FILE")
      ->group(kGroup);
  app.add_option("--format", common.format,
                 words_of(text.formats) +
                     (text.formats.size() > 1
                          ? "; default by the name of the file, else the command's"
                          : ""))
      ->type_name("WORD")
      ->group(kGroup);
  app.add_flag("--quiet", common.quiet, "no progress and no notes; warnings stay")->group(kGroup);
  app.add_option("--color", common.color, "always, never or auto; default auto")
      ->type_name("WORD")
      ->group(kGroup);
  app.add_option("--progress", common.progress, "auto, plain or none; default auto")
      ->type_name("WORD")
      ->group(kGroup);
  app.set_help_flag("-h,--help", "this text")->group(kGroup);
}

// A negative number is a value and not an unknown option.
bool is_number_like(std::string_view text) {
  return text.size() > 1 && (text[1] == '.' || (text[1] >= '0' && text[1] <= '9'));
}

// Flags that people try for keys of a scenario.
constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kKeysOfFlags{{
    {"--nodes", "/cluster/nodes"},
    {"--ranks", "/cluster/nodes"},
    {"--workers", "/cluster/nodes"},
    {"--gpus-per-node", "/cluster/gpus_per_node"},
    {"--nics-per-node", "/cluster/nics_per_node"},
    {"--bandwidth", "/cluster/network/bandwidth_Bps"},
    {"--latency", "/cluster/network/latency_s"},
    {"--topology", "/cluster/topology"},
    {"--trace", "/workload/trace"},
    {"--model", "/workload/model"},
    {"--batch-size", "/workload/batch_size"},
    {"--iterations", "/training/iterations"},
    {"--schedule", "/communication/schedule"},
    {"--collective", "/communication/collective"},
    {"--bucket-bytes", "/communication/bucket_bytes"},
    {"--compression", "/communication/compression/method"},
    {"--density", "/communication/compression/density"},
}};

// "" for a flag that is no key.
std::string_view pointer_of_flag(std::string_view name) {
  const auto* found =
      std::ranges::find(kKeysOfFlags, name, [](const auto& row) { return row.first; });
  return found == kKeysOfFlags.end() ? std::string_view() : found->second;
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
      if (name == "--over" && app.get_option_no_throw("--set") != nullptr) {
        throw UsageError("--over: use compare or sweep");
      }
      const std::string_view pointer =
          app.get_option_no_throw("--set") == nullptr ? std::string_view() : pointer_of_flag(name);
      if (!pointer.empty()) {
        const bool follows = equals == std::string::npos && i + 1 < arguments.size();
        const std::string value = equals != std::string::npos ? argument.substr(equals + 1)
                                  : follows                   ? arguments[i + 1]
                                                              : "VALUE";
        throw UsageError(name + ": unknown option; use --set " + std::string(pointer) + "=" +
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
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
  if (const std::vector<std::string> surplus = app.remaining(); !surplus.empty()) {
    throw UsageError(base::shown_value(surplus.front()) + ": surplus argument" + hint);
  }
}

// Also what the name of the file asks for: `-o x.csv` must not hold JSON. Text of a command without
// tables in Markdown may stand in a file .md all the same.
void require_format(const CommandText& text, Common& common) {
  const auto writes = [&](Format format) {
    return std::ranges::find(text.formats, format) != text.formats.end();
  };
  if (common.format.empty() && !common.json && common.output.ends_with(".md") &&
      !writes(Format::markdown) && writes(Format::table)) {
    common.format = word_of(Format::table);
  }
  if (!common.format.empty()) {
    std::array<std::string_view, kTableFormats.size()> words;
    std::ranges::transform(kTableFormats, words.begin(), word_of);
    require_word("--format", common.format, words);
  }
  const Format format = format_of(common, text.formats.front());
  if (!writes(format)) {
    const std::string asked = !common.format.empty() ? "--format " + common.format
                                                     : "-o " + base::shown_value(common.output);
    throw UsageError(asked + ": " + full_name(text) + " writes " + words_of(text.formats) +
                     " only");
  }
}

// Files that a command writes, by the names of their options.
constexpr std::array<std::string_view, 4> kOutputOptions{"-o", "--timeline", "--dot", "--table"};

// Before any work: a result must not replace what it is made from, nor another result.
void refuse_common_files(const CLI::App& app) {
  const auto is_output = [](const CLI::Option* option) {
    return std::ranges::any_of(kOutputOptions, [&](std::string_view name) {
      return option->check_name(std::string(name));
    });
  };
  const std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::Option* output : options) {
    if (!is_output(output) || output->results().empty()) {
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
        if (!is_output(other) && io::same_file(word, target)) {
          throw UsageError(flag + "is an input too; a result does not replace what it was made "
                                  "from");
        }
        if (is_output(other)) {
          throw UsageError(flag + (other->check_name("-o") ? "-o" : other->get_name()) +
                           " names the same file");
        }
      }
    }
  }
}

} // namespace

// --help is answered before anything is checked: it must work next to a wrong option.
bool parse(CLI::App& app, const CommandText& text, const Invocation& invocation, Common& common) {
  add_common(app, text, common);
  const auto& arguments = invocation.arguments;
  const auto end = std::find(arguments.begin(), arguments.end(), "--");
  if (std::any_of(arguments.begin(), end,
                  [](const std::string& word) { return word == "--help" || word == "-h"; })) {
    print_text(command_help(app, text));
    return false;
  }
  read_arguments(app, text, arguments);
  require_format(text, common);
  refuse_common_files(app);
  require_word("--color", common.color, kColors);
  require_word("--progress", common.progress, kProgress);
  if (text.program == CommandText{}.program) { // calibration measures, undisturbed
    common.work.begin(common.progress, common.quiet, full_name(text));
  }
  return true;
}

int default_jobs() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency())); }

// All words are listed where none is near.
void require_word(std::string_view flag, std::string_view value,
                  std::span<const std::string_view> words) {
  if (std::find(words.begin(), words.end(), value) != words.end()) {
    return;
  }
  std::string text(flag);
  text += ' ' + base::shown_value(value) + ": unknown";
  const std::string nearest = base::did_you_mean(value, words);
  if (!nearest.empty()) {
    throw UsageError(text + nearest);
  }
  text += ", must be one of ";
  for (const std::string_view word : words) {
    text.append(word).append(word == words.back() ? "" : ", ");
  }
  throw UsageError(text);
}

// --format wins over --json, and both over the name of the file.
Format format_of(const Common& common, Format fallback) {
  if (!common.format.empty()) {
    return *std::ranges::find(kTableFormats, common.format, word_of);
  }
  if (common.json) {
    return Format::json;
  }
  std::string_view name = common.output;
  name.remove_suffix(name.ends_with(".gz") ? 3 : 0);
  if (name.ends_with(".json")) {
    return Format::json;
  }
  if (name.ends_with(".jsonl")) {
    return Format::jsonl;
  }
  if (name.ends_with(".html")) {
    return Format::html;
  }
  if (name.ends_with(".md")) {
    return Format::markdown;
  }
  return name.ends_with(".csv") ? Format::csv : fallback;
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
  io::Json tree(io::Object{});
  tree.set("tool", "stepsim");
  tree.set("version", version());
  tree.set("git", git_hash());
  tree.set("command", invocation.command_line);
  tree.set("wall_s", wall.count());
  return tree;
}

} // namespace stepsim::cli
