// Rows are compared by one number each. All rows use the same criterion, also where single rows
// would have a better one: numbers of two kinds cannot be ranked.
#include "sweep/ranking.hpp"

#include <algorithm>

#include "sweep/grid.hpp"
#include "sweep/rows.hpp"
#include "json/json_pointer.hpp"

namespace stepsim::study {

namespace {

std::int64_t integer_at(const io::Json& tree, std::string_view pointer) {
  const io::Json* value = io::resolve(tree, pointer);
  return value != nullptr && value->is_number() ? static_cast<std::int64_t>(value->as_double()) : 1;
}

std::int64_t batches_of(const io::Json& scenario) {
  return integer_at(scenario, "/cluster/nodes") * integer_at(scenario, "/cluster/gpus_per_node") *
         integer_at(scenario, "/training/micro_batches");
}

} // namespace

// An axis changes the number of batches if its pointer is one of the three fields or an object that
// holds them; otherwise one answer serves all points, and a grid of a million of them is not built.
std::vector<std::int64_t> batches_of_points(const Sweep& sweep) {
  const bool may_vary = std::ranges::any_of(sweep.grid.axes, [](const Axis& axis) {
    return std::string_view("/cluster/nodes").starts_with(axis.pointer) ||
           std::string_view("/cluster/gpus_per_node").starts_with(axis.pointer) ||
           std::string_view("/training/micro_batches").starts_with(axis.pointer);
  });
  const auto points = static_cast<std::size_t>(sweep.grid.points());
  if (!may_vary) {
    return std::vector<std::int64_t>(points, batches_of(sweep.base));
  }
  std::vector<std::int64_t> batches;
  for (std::size_t point = 0; point < points; ++point) {
    batches.push_back(
        batches_of(scenario_at(sweep.base, sweep.grid, static_cast<std::int64_t>(point))));
  }
  return batches;
}

// Samples per second need a batch size. If a single row lacks it, batches per second are taken
// for all.
bool has_samples(std::span<const io::Json> rows) {
  return std::ranges::all_of(rows, [](const io::Json& row) {
    return !error_in(row).empty() || number_in(row, "samples_per_s").has_value();
  });
}

std::optional<double> value_by(BestBy by, const io::Json& row, std::int64_t batches,
                               bool has_samples) {
  const std::optional<double> time = number_in(row, "iteration_time_s");
  switch (by) {
  case BestBy::iteration_time:
    return time;
  case BestBy::throughput:
    if (has_samples) {
      return number_in(row, "samples_per_s");
    }
    return time && *time > 0 ? std::optional(static_cast<double>(batches) / *time) : std::nullopt;
  case BestBy::efficiency:
    return number_in(row, "scaling_efficiency");
  }
  return std::nullopt;
}

bool exceeds_memory(const io::Json& row) {
  const io::Json* fits = row.find("memory_fits");
  return fits != nullptr && fits->is_bool() && !fits->as_bool();
}

// Of equal rows the first is the best.
Ranking rank_rows(std::span<const io::Json> rows, std::span<const std::int64_t> batches,
                  std::optional<BestBy> asked) {
  Ranking ranking;
  ranking.batches_differ =
      std::ranges::any_of(batches, [&](std::int64_t each) { return each != batches.front(); });
  ranking.by = asked.value_or(ranking.batches_differ ? BestBy::throughput : BestBy::iteration_time);
  const bool samples = has_samples(rows);
  const bool less_is_better = ranking.by == BestBy::iteration_time;
  std::vector<std::optional<double>> values;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    values.push_back(value_by(ranking.by, rows[i], batches[i], samples));
    const auto& value = values.back();
    if (!value) {
      continue;
    }
    const bool exceeds = exceeds_memory(rows[i]);
    const bool best_exceeds = ranking.best && exceeds_memory(rows[*ranking.best]);
    const bool better = !ranking.best || (less_is_better ? *value < *values[*ranking.best]
                                                         : *value > *values[*ranking.best]);
    if (exceeds == best_exceeds ? better : best_exceeds || !ranking.best) {
      ranking.best = i;
    }
  }
  for (const auto& value : values) {
    std::optional<double> ratio;
    if (value && ranking.best) {
      const double best = *values[*ranking.best];
      // Both ways the ratio is 1 for the best row and grows with the distance from it.
      const double below = less_is_better ? best : *value;
      const double above = less_is_better ? *value : best;
      ratio = below > 0 ? std::optional(above / below) : std::nullopt;
    }
    ranking.ratios.push_back(ratio);
  }
  return ranking;
}

} // namespace stepsim::study
