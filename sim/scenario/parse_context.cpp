#include "scenario/parse_context.hpp"

#include <string>

namespace stepsim::study {

void ParseContext::needs_meaning(io::Fields& fields, std::string_view key, bool meaningful,
                                 std::string_view where) const {
  if (!meaningful && leftovers == Leftovers::refuse && fields.has(key)) {
    problems.add(fields.json(), key,
                 std::string(key) + " has no meaning for " + std::string(where));
  }
}

} // namespace stepsim::study
