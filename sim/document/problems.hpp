#pragma once
// Collects the problems of files, so that a user sees all of them at once.
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.hpp"
#include "document/json.hpp"

namespace stepsim::io {

// Problems of one or several files. The first 20 are kept; the number of the others becomes a last
// line "and N more problems".
class Problems {
public:
  void add(const Json& place, std::string message); // at the value's own pointer
  void add(const Json& parent, std::string_view key,
           std::string message); // at parent's pointer/key
  [[nodiscard]] bool empty() const { return problems_.empty(); }
  [[nodiscard]] const std::vector<base::Problem>& list() const { return problems_; }
  void throw_if_any() const; // throws InputError

private:
  std::vector<base::Problem> problems_;
  std::size_t dropped_{};
};

} // namespace stepsim::io
