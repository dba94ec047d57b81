#pragma once
// The options of commands as values, and the texts made from them: --help, man pages and shell
// completion. The help of the program has a sentence, commands in groups and examples, that of a
// command its usage, examples and options in groups.

#include "cli/commands/commands.hpp"

namespace stepsim::cli {

// The options and texts of a command as values. --help, man pages and shell completion are all
// written from these values, so that they agree.

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

// A program and its commands, for `help`. stepsim and stepsim-calibrate each make one.

struct ProgramPage {
  const ProgramTable& table;
  std::string data_folder; // holds models/; "" = none

  [[nodiscard]] std::vector<Command> commands() const; // those of this build
  // Throws UsageError for an unknown name, and for a command that this build has not.
  [[nodiscard]] CommandPage page(std::string_view name) const;
};

[[nodiscard]] std::string program_help();

// A word that completion offers or a footer lists, with its description ("" = none).
struct Candidate {
  std::string word;
  std::string sentence;
};
// The names of rows, with what they are.
template <class Rows> [[nodiscard]] std::vector<Candidate> named(const Rows& rows) {
  return base::collected<Candidate>(rows, [](const auto& row) {
    return Candidate{std::string(row.name), std::string(row.summary)};
  });
}
// Lines "  word   description" under a heading: the footer of an app, printed after its options.
[[nodiscard]] std::string help_list(std::string_view heading, std::span<const Candidate> rows);
[[nodiscard]] std::string command_help(const CommandPage& page);

// Exit codes of stepsim, in one sentence.
inline constexpr std::string_view kExitCodes =
    "Exit codes: 0 ok, 1 simulation error, 2 usage, 3 bad input file, 4 target not met,"
    " 130 interrupted, 141 standard output closed.";

// If stepsim is installed, replaces paths of shipped files in `text`, such as docs/file-formats.md,
// by their paths on this machine; in a build folder `text` stays as it is. `data_folder` holds
// models/.
[[nodiscard]] std::string with_installed_places(std::string text, const std::string& data_folder);

// The words that a shell offers when the user presses TAB. The scripts of bash, zsh and fish ask
// `stepsim help --format words` for them, so that all three offer the same words.
//     stepsim collective --algorithm ring,be   ->  ring,be
//     stepsim run s.json --set /cluster/n      ->  /cluster/nodes=  /cluster/network/  ...

// The words that may follow an option: words of the key that the option sets or of a table, names
// of shipped files, or the words at the beginning of its help ("json or table; default ...").

// The words for the value of `option`; empty for free values such as numbers.
[[nodiscard]] std::vector<Candidate> value_words(const CommandPage& page, const OptionText& option,
                                                 const std::string& data_folder);

// The keys of a scenario that complete the pointer `typed` by one level after its last slash. An
// object ends in a slash, a key in `end`.
[[nodiscard]] std::vector<Candidate> pointer_words(std::string_view typed, std::string_view end);
// The values of the key at `pointer`: its words, true and false, shipped files, the default.
[[nodiscard]] std::vector<Candidate> words_of_key(std::string_view pointer,
                                                  const std::string& data_folder);

struct Completion {
  std::vector<Candidate> words; // whole words that begin with the typed part
  bool files = false;           // file names are possible, too
};

// `typed`: the words after the name of the program; the last word, which may be empty, is
// completed. Nothing for an unknown command.
[[nodiscard]] Completion complete(const ProgramPage& program, std::span<const std::string> typed);

// One line per word, with its sentence after a tab; the last line is ":files" if file names are
// possible. The scripts add no blank after a word that ends in "/" or "=", because more follows.
[[nodiscard]] std::string completion_text(const Completion& completion);

// The page of a program in roff (man 7), with its commands and exit codes, from the pages that
// --help uses.
[[nodiscard]] std::string man_page(const ProgramPage& program);
// The page NAME-COMMAND(1) of one command of the program.
[[nodiscard]] std::string man_page(const ProgramPage& program, const Command& row);
// One page with all commands, for a program with few commands.
[[nodiscard]] std::string whole_man_page(const ProgramPage& program);

// Completion scripts for bash, zsh and fish, which ask the program for words, so that a new command
// or key needs no change of the scripts. `program` is the name of the program to complete, such as
// "stepsim-calibrate".
[[nodiscard]] std::string bash_script(std::string_view program);
[[nodiscard]] std::string zsh_script(std::string_view program);
[[nodiscard]] std::string fish_script(std::string_view program);

} // namespace stepsim::cli
