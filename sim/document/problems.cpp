// A file with thousands of bad values would print thousands of lines: the first 20 are kept, the
// rest counted. What several readers of one value find is one problem.
#include "document/checked.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "document/json_text.hpp"

namespace stepsim::io {

void Problems::keep(base::Problem problem) {
  constexpr std::size_t kMaxProblems = 20;
  const bool is_new = known_.insert({problem.file, problem.where, problem.message}).second;
  if (is_new && problems_.size() < kMaxProblems) {
    problems_.push_back(std::move(problem));
  }
}

void Problems::add(const Json& place, std::string message) {
  keep({std::string(place.file()), place.pointer(), std::move(message)});
}

void Problems::add(const Json& parent, std::string_view key, std::string message) {
  keep({std::string(parent.file()), parent.pointer().append("/").append(escape_token(key)),
        std::move(message)});
}

void Problems::throw_if_any() const {
  if (problems_.empty()) {
    return;
  }
  std::vector<base::Problem> all = problems_;
  if (const std::size_t more = known_.size() - problems_.size(); more > 0) {
    all.push_back({all.front().file, "", fmt::format("and {} more problems", more)});
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
