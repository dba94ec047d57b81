// A file with thousands of bad values would print thousands of lines: the first 20 are kept, the
// rest counted. What several readers of one value find is one problem.
#include "document/checked.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "document/json_text.hpp"

namespace stepsim::io {

namespace {

constexpr std::size_t kMaxProblems = 20;

void keep(base::Problem problem, std::vector<base::Problem>& kept, std::size_t& dropped) {
  const bool known = std::ranges::any_of(kept, [&](const base::Problem& each) {
    return each.where == problem.where && each.message == problem.message &&
           each.file == problem.file;
  });
  if (kept.size() >= kMaxProblems) {
    dropped += known ? 0 : 1;
  } else if (!known) {
    kept.push_back(std::move(problem));
  }
}

} // namespace

void Problems::add(const Json& place, std::string message) {
  keep({std::string(place.file()), place.pointer(), std::move(message)}, problems_, dropped_);
}

void Problems::add(const Json& parent, std::string_view key, std::string message) {
  keep({std::string(parent.file()), parent.pointer().append("/").append(escape_token(key)),
        std::move(message)},
       problems_, dropped_);
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

// A range says in one wording what values it has: files, flags and schemas share it.

bool Range::contains(double value) const {
  const bool above_low = open_low ? value > low : value >= low;
  const bool below_high = open_high ? value < high : value <= high;
  return above_low && below_high;
}

std::string Range::text() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high) {
    return std::string("must be in ") + (open_low ? "(" : "[") + base::shortest(low) + ", " +
           base::shortest(high) + (open_high ? ")" : "]");
  }
  if (has_low) {
    return std::string("must be ") + (open_low ? "> " : ">= ") + base::shortest(low);
  }
  if (has_high) {
    return std::string("must be ") + (open_high ? "< " : "<= ") + base::shortest(high);
  }
  return "must be";
}

} // namespace stepsim::io
