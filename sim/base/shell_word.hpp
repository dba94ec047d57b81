#pragma once
// Quotes words of a command line for a shell.
#include <string>

namespace stepsim::base {

// Returns the word as a POSIX shell reads it back: in quotes, unless every character is plain.
[[nodiscard]] std::string quoted_word(const std::string& word);

} // namespace stepsim::base
