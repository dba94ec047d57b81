#include "scenario/cost_choice.hpp"

#include "base/collected.hpp"
#include "scenario/keys/cluster_keys.hpp"
#include "scenario/scenario_parts.hpp"

namespace stepsim::study {

namespace {

constexpr std::string_view kAllReduce = "allreduce";

// "allreduce with 2 ranks, allgather with 8 ranks"
std::string lines_text(const CostFile& file) {
  return base::listed(file.lines, [](const io::LineCost& line) {
    return line.op + " with " + base::counted(line.ranks, "rank");
  });
}

} // namespace

// A measured table may fall with size by noise: it is made non-decreasing once, here, and the
// report says by how much.
CostFile read_cost_file(const io::Json& tree) {
  io::CostPoints points = io::parse_cost(tree);
  CostFile file{std::move(points.op), points.ranks, {}, {}, std::move(points.costs)};
  if (file.lines.empty()) {
    std::tie(file.table, file.report) = buckets::make_table_cost(points.table);
  }
  return file;
}

// A file of one number of ranks: nothing says how its cost would scale.
ChosenCost all_reduce_cost(const CostFile& file, std::optional<std::int64_t> ranks,
                           const io::Json& place, io::Problems& problems) {
  if (file.lines.empty()) {
    if (!file.op.empty() && file.op != kAllReduce) {
      problems.add(place, "the times are those of " + file.op + ", must be those of allreduce");
    }
    if (ranks && file.ranks > 0 && file.ranks != *ranks) {
      problems.add(place, "measured with " + base::counted(file.ranks, "rank") +
                              ", the cluster has " + std::to_string(*ranks));
    }
    return {buckets::Cost{.base = file.table}, ""};
  }
  const auto fits = [&](const io::LineCost& line) {
    return line.op == kAllReduce && (!ranks || line.ranks == *ranks);
  };
  const auto line = std::ranges::find_if(file.lines, fits);
  if (line == file.lines.end() || std::ranges::count_if(file.lines, fits) > 1) {
    problems.add(place, (ranks ? "no allreduce with " + base::counted(*ranks, "rank")
                               : std::string("needs one allreduce")) +
                            ", the file has " + lines_text(file));
    return {};
  }
  ChosenCost chosen{buckets::Cost{.base = buckets::LinearCost{line->startup_s, line->per_byte_s}},
                    ""};
  if (line->grade == io::CostGrade::bound) {
    chosen.warning = "link at least " + base::significant(line->bus_bandwidth_Bps / 1e9, 3) +
                     " GB/s: times are upper bounds";
  }
  return chosen;
}

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
