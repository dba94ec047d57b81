#pragma once
// The words that may follow an option: words of the key that the option sets or of a table, names
// of shipped files, or the words at the beginning of its help ("json or table; default ...").
#include <string>
#include <string_view>
#include <vector>

#include "cli/help/command_page.hpp"

namespace stepsim::cli {

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

} // namespace stepsim::cli
