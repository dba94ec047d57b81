#include "document/fields/bound.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace stepsim::io::binding {

// A word that is not in the table is a problem of the file already.
std::size_t place_of_word(Fields& fields, const Key& key) {
  std::vector<std::string_view> made;
  const auto words = key.words.all(made);
  const auto found = std::ranges::find(words, fields.word(key.name));
  return found != words.end() ? static_cast<std::size_t>(std::distance(words.begin(), found)) : 0;
}

std::string_view word_at(const Key& key, std::size_t place) {
  std::vector<std::string_view> made;
  return key.words.all(made)[place];
}

} // namespace stepsim::io::binding
