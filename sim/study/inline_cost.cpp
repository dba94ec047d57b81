#include <string>
#include <utility>
#include <vector>

#include "base/number_text.hpp"
#include "study/scenario_parts.hpp"

namespace stepsim::study {

namespace {

std::vector<std::pair<double, double>> parse_points(std::span<const io::Json> rows,
                                                    io::Problems& problems) {
  std::vector<std::pair<double, double>> points;
  for (const io::Json& row : rows) {
    const bool pair = row.is_array() && row.as_array().size() == 2 &&
                      row.as_array()[0].is_number() && row.as_array()[1].is_number();
    if (!pair) {
      problems.add(row, "must be a pair [bytes, seconds]");
      continue;
    }
    const double bytes = row.as_array()[0].as_double();
    const double seconds = row.as_array()[1].as_double();
    if (bytes <= 0) {
      problems.add(row.as_array()[0], "must be > 0, got " + base::shortest(bytes));
    } else if (seconds <= 0) {
      problems.add(row.as_array()[1], "must be > 0, got " + base::shortest(seconds));
    } else if (!points.empty() && bytes <= points.back().first) {
      problems.add(row.as_array()[0], "bytes must be strictly ascending");
    } else {
      points.emplace_back(bytes, seconds);
    }
  }
  return points;
}

} // namespace

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
    const auto rows = fields.array("table", true);
    const auto points = parse_points(rows, problems);
    if (rows.size() < 2) {
      problems.add(json, "table", "needs at least 2 points");
    } else if (points.size() >= 2) {
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
