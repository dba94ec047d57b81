#include "base/error.hpp"

#include <cassert>
#include <utility>

#include "base/printable.hpp"

namespace stepsim::base {

namespace {

// Throws away nothing: an InputError without a problem would print an empty line.
std::string first_text(const std::vector<Problem>& problems) {
  assert(!problems.empty() && "an InputError carries at least one problem");
  return problems.front().text();
}

} // namespace

std::string Problem::text() const {
  // A key may be as long as a file; its beginning tells which one it is.
  constexpr std::size_t kLongestPlace = 400;
  const std::string shown_file = printable(file);
  const std::string shown_where = shown_value(where, kLongestPlace);
  const std::string shown_message = printable(message);
  if (where.empty()) {
    return file.empty() ? shown_message : shown_file + ": " + shown_message;
  }
  if (file.empty()) { // a value that was made in memory
    return shown_where + ": " + shown_message;
  }
  const bool pointer = where.front() == '/';
  return shown_file + (pointer ? ": " : ":") + shown_where + ": " + shown_message;
}

InputError::InputError(std::string file, std::string where, std::string message)
    : InputError(std::vector<Problem>{{std::move(file), std::move(where), std::move(message)}}) {}

InputError::InputError(std::vector<Problem> problems)
    : std::runtime_error(first_text(problems)), problems_(std::move(problems)) {}

std::string shown_value(std::string_view value, std::size_t limit) {
  if (value.size() <= limit) {
    return printable(value);
  }
  const auto is_continuation = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
  };
  std::size_t end = limit;
  while (end > 0 && is_continuation(value[end])) {
    --end;
  }
  return printable(value.substr(0, end)) + "...";
}

} // namespace stepsim::base
