#include "scenario/parse_context.hpp"

#include "scenario/rules.hpp"

namespace stepsim::study {

void ParseContext::needs_meaning(io::Fields& fields, std::string_view key, bool meaningful,
                                 std::string_view where) const {
  if (!meaningful && leftovers == Leftovers::refuse && fields.has(key)) {
    fields.refuse(key, std::string(key) + " has no meaning for " + std::string(where));
  }
}

Scenario without_leftovers(io::Json& tree, Files& files,
                           const std::function<bool(std::string_view pointer)>& may,
                           std::vector<MeaninglessKey>& dropped) {
  for (;;) {
    try {
      return parse_scenario(tree, files);
    } catch (const InputError& error) {
      const std::size_t before = dropped.size();
      for (const base::Problem& problem : error.problems()) {
        const bool meaningless = problem.message.find("no meaning") != std::string::npos;
        if (meaningless && is_given(tree, problem.where) && may(problem.where)) {
          dropped.push_back({problem.where, problem.message});
          drop_key(tree, problem.where);
        }
      }
      if (dropped.size() == before) {
        throw;
      }
    }
  }
}

} // namespace stepsim::study
