#pragma once
// Words of a command line as text.
#include <string>

namespace stepsim::base {

// A word as one could paste it into a shell: quoted unless every character is plain.
[[nodiscard]] std::string quoted_word(const std::string& word);

} // namespace stepsim::base
