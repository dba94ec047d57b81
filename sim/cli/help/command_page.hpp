#pragma once
// The options and texts of a command as values. --help, man pages and shell completion are all
// written from these values, so that they agree.

#include "cli/shell/app.hpp"

namespace stepsim::cli {

struct OptionText {
  std::vector<std::string> names; // "-o", "--output"; an argument has only its name, "SCENARIO"
  // Name of the value in help, "FILE"; "" for switches and arguments.
  std::string value;
  std::string sentence;
  std::string group;
  bool is_argument = false;
  bool is_list = false; // an argument that may be given several times
};

struct CommandPage {
  CommandText text;
  std::vector<OptionText> options; // in the order in which the command adds them
  std::string footer;              // tables of words after the options; "" = none
};

// The page of a command whose options, including those that all commands have, are in `app`.
[[nodiscard]] CommandPage page_of(const CLI::App& app, const CommandText& text);

// The option of this name, "--set" or "-o"; null if the command has none.
[[nodiscard]] const OptionText* find_option(const CommandPage& page, std::string_view name);

// The groups of the options in their order; groups that all commands have come last.
[[nodiscard]] std::vector<std::string> groups_of(const CommandPage& page);

// The texts of a program and its commands, for `help`. stepsim and stepsim-calibrate each make one.

struct ProgramPage {
  struct Row {
    std::string_view name;
    std::string_view summary;
  };
  std::string_view name; // "stepsim"
  // What the program does, without its name.
  std::string_view summary;
  std::string help;                                         // the text of --help
  std::vector<Row> commands;                                // the commands of this build
  std::function<CommandPage(const std::string& name)> page; // throws UsageError for an unknown name
  std::string data_folder{};                                // holds models/; "" = none
  bool has_pages_of_commands = false; // whether each command has a separate man page
};

} // namespace stepsim::cli
