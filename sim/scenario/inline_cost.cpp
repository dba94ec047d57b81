#include "scenario/scenario_parts.hpp"

#include <utility>

#include "scenario/files/cost_file.hpp"
#include "scenario/keys/cluster_keys.hpp"

namespace stepsim::study {

// Both forms or none of them is an error; the keys are then known, so that no second error calls
// them unknown.
buckets::Cost inline_cost(const io::Json& json, io::Problems& problems,
                          buckets::TableReport* report) {
  io::Fields fields(json, problems, keys::kCostObject);
  const bool linear = fields.has("startup_s") || fields.has("per_byte_s");
  const bool table = fields.has("table");
  buckets::Cost cost;
  if (linear == table) {
    problems.add(json, "give either startup_s and per_byte_s, or table");
    fields.know_all();
  } else if (linear) {
    const double startup = fields.required_number("startup_s");
    const double per_byte = fields.required_number("per_byte_s");
    cost.base = buckets::LinearCost{startup, per_byte};
  } else {
    const auto points = io::parse_cost_table(*fields.any("table"), problems);
    if (points.size() >= 2 && problems.empty()) {
      auto [monotone, changes] = buckets::make_table_cost(points);
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
