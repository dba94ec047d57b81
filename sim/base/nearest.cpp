#include "base/collected.hpp"

#include <array>
#include <tuple>
#include <utility>

namespace stepsim::base {

namespace {

// What frameworks call a word of ours.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[]{
    {"zero3", "full_shard"},      {"fsdp", "full_shard"},
    {"SHARD_GRAD_OP", "zero2"},   {"ddp", "none"},
    {"hsdp", "hybrid_shard"},     {"NO_SHARD", "none"},
    {"FULL_SHARD", "full_shard"}, {"HYBRID_SHARD", "hybrid_shard"}};

// Of a long list the words that begin as `word` does, by three letters or more: "llama9" finds
// llama2_7b. Empty for a short list, which is shown whole.
std::vector<std::string> of_one_family(std::string_view word,
                                       std::span<const std::string_view> known) {
  constexpr std::size_t kShown = 12, kLeastPart = 3;
  std::vector<std::tuple<std::ptrdiff_t, std::size_t, std::string_view>> found;
  for (const std::string_view candidate : known) {
    const auto same =
        std::mismatch(word.begin(), word.end(), candidate.begin(), candidate.end()).first -
        word.begin();
    if (known.size() > kShown && same >= std::ptrdiff_t{kLeastPart}) {
      found.emplace_back(-same, edit_distance(word, candidate), candidate);
    }
  }
  std::ranges::sort(found);
  std::vector<std::string> words;
  for (const auto& [same, distance, candidate] : found) {
    if (same == std::get<0>(found.front()) && words.size() < 3) {
      words.emplace_back(candidate);
    }
  }
  return words;
}

} // namespace

// The unrestricted Damerau-Levenshtein distance: row and column 0 are a border larger than any
// distance, `last_row[c]` is the last row whose character is c.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  const std::size_t width = b.size() + 2;
  const std::size_t border = a.size() + b.size();
  std::vector<std::size_t> table((a.size() + 2) * width, border);
  const auto at = [&](std::size_t i, std::size_t j) -> std::size_t& {
    return table[i * width + j];
  };
  for (std::size_t i = 0; i <= a.size(); ++i) {
    at(i + 1, 1) = i;
  }
  for (std::size_t j = 0; j <= b.size(); ++j) {
    at(1, j + 1) = j;
  }
  std::array<std::size_t, 256> last_row{};
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t last_match = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t row = last_row[static_cast<unsigned char>(b[j - 1])];
      const std::size_t column = last_match;
      const bool same = a[i - 1] == b[j - 1];
      if (same) {
        last_match = j;
      }
      const std::size_t replaced = at(i, j) + (same ? 0 : 1);
      const std::size_t inserted_or_deleted = std::min(at(i + 1, j), at(i, j + 1)) + 1;
      const std::size_t swapped = at(row, column) + (i - row - 1) + 1 + (j - column - 1);
      at(i + 1, j + 1) = std::min({replaced, inserted_or_deleted, swapped});
    }
    last_row[static_cast<unsigned char>(a[i - 1])] = i;
  }
  return at(a.size() + 1, b.size() + 1);
}

std::vector<std::string> nearest_words(std::string_view word,
                                       std::span<const std::string_view> known) {
  for (const auto& [other, ours] : kOtherNames) {
    if (other == word && std::ranges::find(known, ours) != known.end()) {
      return {std::string(ours)};
    }
  }
  const std::size_t limit = std::max<std::size_t>(1, word.size() / 3);
  constexpr std::size_t kLeastPart = 3; // not "k" of everything with k_
  std::vector<std::pair<std::size_t, std::string_view>> found;
  for (const std::string_view candidate : known) {
    if (word.size() >= kLeastPart && candidate.size() > word.size() &&
        candidate.starts_with(word) &&
        (candidate[word.size()] == '_' || candidate[word.size()] == '-')) {
      found.emplace_back(limit, candidate);
      continue;
    }
    const auto [shorter, longer] = std::minmax({word.size(), candidate.size()}); // by value
    if (longer - shorter > limit) {
      continue; // the distance is at least the difference of the lengths
    }
    if (const std::size_t distance = edit_distance(word, candidate); distance <= limit) {
      found.emplace_back(distance, candidate);
    }
  }
  if (found.empty() && word.size() >= kLeastPart) {
    const std::string part = "_" + std::string(word);
    for (const std::string_view candidate : known) {
      if (candidate.ends_with(part) || candidate.starts_with(word)) {
        found.emplace_back(limit, candidate);
      }
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  found.resize(std::min<std::size_t>(found.size(), 3));
  std::vector<std::string> words;
  for (const auto& [distance, candidate] : found) {
    words.emplace_back(candidate);
  }
  return words;
}

std::string did_you_mean(std::string_view word, std::span<const std::string_view> known) {
  const std::vector<std::string> words = nearest_words(word, known);
  if (words.empty()) {
    return "";
  }
  return ", did you mean " + listed(words, std::identity(), ", ", " or ") + "?";
}

std::string unknown_word(std::string_view noun, std::string_view word,
                         std::span<const std::string_view> known) {
  const std::string text = "unknown " + std::string(noun) + " \"" + shown_value(word) + "\"";
  std::vector<std::string> near = nearest_words(word, known);
  near = near.empty() ? of_one_family(word, known) : near;
  if (!near.empty()) {
    return text + "; did you mean " + listed(near, quoted, ", ", " or ") + "?";
  }
  return known.empty() ? text : text + "; one of " + joined(known);
}

std::string quoted(std::string_view word) { return "\"" + std::string(word) + "\""; }

std::string joined(std::span<const std::string_view> words, std::string_view last) {
  return listed(words, std::identity(), ", ", last);
}

} // namespace stepsim::base
