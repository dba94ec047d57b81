// Points of a cost file as they were measured. Nothing is interpolated or smoothed here: a measured
// curve may fall with the bytes, and plan::make_table_cost alone decides what planners see of it.
#include "files/cost_file.hpp"

#include <fmt/core.h>

#include "files/keys/cost_keys.hpp"

namespace stepsim::io {

// A row that cannot be read still counts as the predecessor of the next one, by its bytes where
// they could be read, so that one wrong row makes one problem and not one per row behind it.
std::vector<std::pair<double, double>> parse_cost_table(const Json& table, Problems& problems) {
  std::vector<std::pair<double, double>> points;
  if (!table.is_array()) {
    problems.add(table, "must be a list of [bytes, seconds], got " + shown(table));
    return points;
  }
  double last = 0;
  for (const Json& row : table.as_array()) {
    if (!row.is_array() || row.as_array().size() != 2) {
      problems.add(row, "must be a pair [bytes, seconds]");
      continue;
    }
    const Range range = keys::kCostNumber.front().range;
    const auto bytes = checked_number(row.as_array()[0], range, problems);
    const auto seconds = checked_number(row.as_array()[1], range, problems);
    if (bytes && *bytes <= last) {
      problems.add(row.as_array()[0],
                   "bytes must be strictly ascending, got " + shown(row.as_array()[0]));
    } else if (bytes && seconds) {
      points.emplace_back(*bytes, *seconds);
    }
    last = bytes.value_or(last);
  }
  if (table.as_array().size() < keys::kCostTable.least) {
    problems.add(table, fmt::format("needs at least {} points", keys::kCostTable.least));
  }
  return points;
}

// `source` is kept as it stands, a text or an object of any form: it is only written back, so that
// a file that is read and written again loses nothing.
CostPoints parse_cost(const Json& json) {
  Problems problems;
  Fields fields(json, problems, keys::kCostFile);
  fields.header(keys::kCostFile.name);
  CostPoints cost;
  cost.name = fields.string("name", "");
  cost.op = fields.text("op");
  cost.ranks = fields.optional_integer("ranks").value_or(0);
  if (const Json* source = fields.any("source")) {
    cost.source = *source;
  }
  if (const Json* table = fields.any("table")) {
    cost.table = parse_cost_table(*table, problems);
  } else if (json.is_object()) {
    problems.add(json, "table", "required (a list of [bytes, seconds])");
  }
  fields.no_more();
  problems.throw_if_any();
  return cost;
}

// Keys that the file left out are left out again, so that reading and writing are inverse.
Json to_json(const CostPoints& cost) {
  Json json;
  json.set("schema_version", 1);
  json.set("kind", keys::kCostFile.name);
  if (!cost.name.empty()) {
    json.set("name", cost.name);
  }
  if (!cost.op.empty()) {
    json.set("op", cost.op);
  }
  if (cost.ranks > 0) {
    json.set("ranks", cost.ranks);
  }
  if (!cost.source.is_null()) {
    json.set("source", cost.source);
  }
  Array table;
  for (const auto& [bytes, seconds] : cost.table) {
    table.push_back(Array{bytes, seconds});
  }
  json.set("table", std::move(table));
  return json;
}

} // namespace stepsim::io
