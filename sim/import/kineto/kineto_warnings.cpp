#include "import/kineto/kineto_warnings.hpp"

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

// The words of a warning without its numbers.
std::string without_numbers(std::string_view warning) {
  std::string words;
  for (const char c : warning) {
    if (c < '0' || c > '9') {
      words += c;
    }
  }
  return words;
}

} // namespace

std::vector<std::string> common_warnings(std::span<const KinetoRank> ranks) {
  if (ranks.size() == 1) {
    return ranks.front().warnings;
  }
  struct Group {
    std::string words, file, text;
    std::size_t others = 0;
    bool alike = true;
  };
  std::vector<Group> groups;
  for (const KinetoRank& rank : ranks) {
    for (const std::string& warning : rank.warnings) {
      std::string words = without_numbers(warning);
      const auto group = std::ranges::find(groups, words, &Group::words);
      if (group == groups.end()) {
        groups.push_back({std::move(words), stem_of(rank.file), warning});
      } else {
        ++group->others;
        group->alike = group->alike && group->text == warning;
      }
    }
  }
  std::vector<std::string> warnings;
  for (const Group& group : groups) {
    const std::string files =
        group.others == 0 ? group.file
                          : group.file + " and " +
                                counted(static_cast<std::int64_t>(group.others), "other file") +
                                (group.alike ? "" : " (with other numbers)");
    warnings.push_back(files + ": " + group.text);
  }
  return warnings;
}

} // namespace stepsim::io
