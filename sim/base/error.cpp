#include "base/error.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace stepsim::base {

namespace {

// Throws away nothing: an InputError without a problem would print an empty line.
std::string first_text(const std::vector<Problem>& problems) {
  assert(!problems.empty() && "an InputError carries at least one problem");
  return problems.front().text();
}

} // namespace

std::string Problem::text() const {
  if (where.empty()) {
    return file.empty() ? message : file + ": " + message;
  }
  if (file.empty()) { // a value that was made in memory
    return where + ": " + message;
  }
  const bool pointer = where.front() == '/';
  return file + (pointer ? ": " : ":") + where + ": " + message;
}

InputError::InputError(std::string file, std::string where, std::string message)
    : InputError(std::vector<Problem>{{std::move(file), std::move(where), std::move(message)}}) {}

InputError::InputError(std::vector<Problem> problems)
    : std::runtime_error(first_text(problems)), problems_(std::move(problems)) {}

std::string shown_value(std::string_view value, std::size_t limit) {
  std::string shown(value.substr(0, limit));
  if (value.size() > limit) {
    const auto is_continuation = [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
    };
    std::size_t end = limit;
    while (end > 0 && is_continuation(value[end])) {
      --end;
    }
    shown.resize(end);
    shown += "...";
  }
  std::replace_if(
      shown.begin(), shown.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return shown;
}

} // namespace stepsim::base
