#pragma once
// The words that may follow an option: those of the key it sets, of a table, of the shipped files,
// or those with which its sentence of help begins ("json or table; default ...").
#include <string>
#include <string_view>
#include <vector>

#include "cli/help/command_page.hpp"

namespace stepsim::cli {

// A word with what completion tells about it ("" = nothing).
struct Candidate {
  std::string word;
  std::string sentence;
};

// The words of `option` of the command; none where a value is free, as a number is.
[[nodiscard]] std::vector<Candidate> value_words(const CommandPage& page, const OptionText& option,
                                                 const std::string& data_folder);

// POINTER as far as it is typed: the keys of a scenario one level below its last slash. An object
// ends in a slash, a key in `end`.
[[nodiscard]] std::vector<Candidate> pointer_words(std::string_view typed, std::string_view end);
// The values of the key at `pointer`: its words, true and false, shipped files, its default.
[[nodiscard]] std::vector<Candidate> words_of_key(std::string_view pointer,
                                                  const std::string& data_folder);

} // namespace stepsim::cli
