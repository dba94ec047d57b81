// A file with thousands of bad values would print thousands of lines: the first 20 are kept, the
// rest counted.
#include "json/problems.hpp"

#include "json/json_pointer.hpp"
#include <fmt/core.h>

#include <utility>

namespace stepsim::io {

namespace {

constexpr std::size_t kMaxProblems = 20;

} // namespace

void Problems::add(const Json& place, std::string message) {
  if (problems_.size() >= kMaxProblems) {
    ++dropped_;
    return;
  }
  problems_.push_back({std::string(place.file()), place.pointer(), std::move(message)});
}

void Problems::add(const Json& parent, std::string_view key, std::string message) {
  if (problems_.size() >= kMaxProblems) {
    ++dropped_;
    return;
  }
  problems_.push_back({std::string(parent.file()),
                       parent.pointer().append("/").append(escape_token(key)), std::move(message)});
}

void Problems::throw_if_any() const {
  if (problems_.empty()) {
    return;
  }
  std::vector<base::Problem> all = problems_;
  if (dropped_ > 0) {
    all.push_back({all.front().file, "", fmt::format("and {} more problems", dropped_)});
  }
  throw InputError(std::move(all));
}

} // namespace stepsim::io
