#pragma once
// The words that a shell offers when the user presses TAB. The scripts of bash, zsh and fish ask
// `stepsim help --format words` for them, so that all three offer the same words.
//     stepsim collective --algorithm ring,be   ->  ring,be
//     stepsim run s.json --set /cluster/n      ->  /cluster/nodes=  /cluster/network/  ...
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help/program_page.hpp"
#include "cli/help/value_words.hpp"

namespace stepsim::cli {

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
