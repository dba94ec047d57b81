#pragma once
// What a shell offers where the user presses TAB. The scripts of bash, zsh and fish ask
// `stepsim help --format words` for it, so that all three offer the same.
//     stepsim collective --algorithm ring,be   ->  ring,be
//     stepsim run s.json --set /cluster/n      ->  /cluster/nodes=  /cluster/network/  ...
#include <span>
#include <string>
#include <vector>

#include "cli/help/program_page.hpp"
#include "cli/help/value_words.hpp"

namespace stepsim::cli {

struct Completion {
  std::vector<Candidate> words; // whole words that begin with what is typed
  bool files = false;           // names of files fit, too
};

// `typed`: the words after the name of the program; the last of them, which may be empty, is
// completed. Nothing for a command that does not exist.
[[nodiscard]] Completion complete(const ProgramPage& program, std::span<const std::string> typed);

// One line per word, with its sentence after a tab; ":files" on the last line where files fit. The
// scripts add no blank after a word that ends in a slash or "=", because more follows.
[[nodiscard]] std::string completion_text(const Completion& completion);

} // namespace stepsim::cli
