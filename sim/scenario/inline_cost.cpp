#include <string>
#include <utility>

#include "files/cost_file.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

plan::Cost inline_cost(const io::Json& json, io::Problems& problems, plan::TableReport* report) {
  io::Fields fields(json, problems);
  const bool linear = fields.has("startup_s") || fields.has("per_byte_s");
  const bool table = fields.has("table");
  plan::Cost cost;
  if (linear == table) {
    problems.add(json, "give either startup_s and per_byte_s, or table");
    for (const std::string_view key : {"startup_s", "per_byte_s", "table"}) {
      (void)fields.any(key);
    }
  } else if (linear) {
    const double startup = fields.number("startup_s", io::at_least(0));
    const double per_byte = fields.number("per_byte_s", io::at_least(0));
    cost.base = plan::LinearCost{startup, per_byte};
  } else {
    const auto points = io::parse_cost_table(*fields.any("table"), problems);
    if (points.size() >= 2 && problems.empty()) {
      auto [monotone, changes] = plan::make_table_cost(points);
      cost.base = std::move(monotone);
      if (report != nullptr) {
        *report = changes;
      }
    }
  }
  fields.no_more();
  return cost;
}

} // namespace stepsim::study
