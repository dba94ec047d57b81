#pragma once
// The words that a shell offers when the user presses TAB. The scripts of bash, zsh and fish ask
// `stepsim help --format words` for them, so that all three offer the same words.
//     stepsim collective --algorithm ring,be   ->  ring,be
//     stepsim run s.json --set /cluster/n      ->  /cluster/nodes=  /cluster/network/  ...

#include "cli/help/command_page.hpp"

namespace stepsim::cli {

// The words that may follow an option: words of the key that the option sets or of a table, names
// of shipped files, or the words at the beginning of its help ("json or table; default ...").

// A word that completion offers, with its description ("" = none).
struct Candidate {
  std::string word;
  std::string sentence;
};

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
[[nodiscard]] std::string man_page(const ProgramPage& program, const ProgramPage::Row& row);
// One page with all commands, for a program with few commands.
[[nodiscard]] std::string whole_man_page(const ProgramPage& program);

// Completion scripts for bash, zsh and fish, which ask the program for words, so that a new command
// or key needs no change of the scripts. `program` is the name of the program to complete, such as
// "stepsim-calibrate".
[[nodiscard]] std::string bash_script(std::string_view program);
[[nodiscard]] std::string zsh_script(std::string_view program);
[[nodiscard]] std::string fish_script(std::string_view program);

} // namespace stepsim::cli
