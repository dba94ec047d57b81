// Points of a cost file as they were measured. Nothing is interpolated or smoothed here: a measured
// curve may fall with the bytes, and buckets::make_table_cost alone decides what planners see of
// it.
#include "scenario/files/cost_file.hpp"

#include <fmt/core.h>

#include "document/fields/members.hpp"
#include "scenario/files/keys/cost_keys.hpp"

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

namespace {

constexpr auto kLine =
    members<&LineCost::op, &LineCost::ranks, &LineCost::grade, &LineCost::startup_s,
            &LineCost::per_byte_s, &LineCost::bus_bandwidth_Bps, nullable<&LineCost::startup_low_s>,
            nullable<&LineCost::startup_high_s>, nullable<&LineCost::bus_bandwidth_low_Bps>,
            nullable<&LineCost::bus_bandwidth_high_Bps>, unless_default<&LineCost::collectives>,
            unless_default<&LineCost::smallest_bytes>, unless_default<&LineCost::largest_bytes>>;

// Two costs of the same exchange would leave open which one counts.
std::vector<LineCost> parse_line_costs(std::span<const Json> list, Problems& problems) {
  std::vector<LineCost> costs;
  for (const Json& json : list) {
    Fields fields(json, problems, keys::kLineCost.front());
    LineCost cost = read_members(kLine, fields);
    fields.no_more();
    if (std::ranges::any_of(costs, [&](const LineCost& other) {
          return other.op == cost.op && other.ranks == cost.ranks;
        })) {
      problems.add(json, fmt::format("{} with {} ranks appears twice", cost.op, cost.ranks));
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

} // namespace

// `source` is kept as it stands, a text or an object of any form: it is only written back, so that
// a file that is read and written again loses nothing.
CostPoints parse_cost(const Json& json) {
  FileFields fields(json, keys::kCostFile);
  CostPoints cost;
  cost.name = fields.string("name", "");
  cost.op = fields.text("op");
  cost.ranks = fields.optional_integer("ranks").value_or(0);
  if (const Json* source = fields.any("source")) {
    cost.source = *source;
  }
  const Json* table = fields.any("table");
  const bool lines = fields.any("costs") != nullptr;
  if (table != nullptr && lines) {
    fields.problems().add(json, "give either table or costs");
  } else if (table != nullptr) {
    cost.table = parse_cost_table(*table, fields.problems());
  } else if (lines) {
    cost.costs = parse_line_costs(fields.list("costs", "cost"), fields.problems());
    for (const char* key : {"op", "ranks"}) {
      if (fields.has(key)) {
        fields.refuse(key, "belongs to a table: each element of costs has its own");
      }
    }
  } else if (json.is_object()) {
    fields.refuse("table", "required (a list of [bytes, seconds])");
  }
  fields.finish();
  return cost;
}

// Keys that the file left out are left out again, so that reading and writing are inverse.
Json to_json(const CostPoints& cost) {
  Json json = file_json(keys::kCostFile);
  set_given(json, "name", cost.name);
  set_given(json, "op", cost.op);
  set_given(json, "ranks", cost.ranks);
  set_given(json, "source", cost.source);
  if (!cost.costs.empty()) {
    json.set("costs", write_members(kLine, keys::kLineCost.front(), cost.costs));
    return json;
  }
  json.set("table", write_each(cost.table, [](const auto& point) {
             return Array{point.first, point.second};
           }));
  return json;
}

} // namespace stepsim::io
