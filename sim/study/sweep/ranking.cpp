// Rows are compared by one number each. All rows use the same criterion, also where single rows
// would have a better one: numbers of two kinds cannot be ranked.
#include "study/sweep/ranking.hpp"

#include "document/json_text.hpp"
#include "run/memory_figures.hpp"
#include "scenario/keys/training_keys.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::study {

namespace {

std::int64_t integer_at(const io::Json& tree, std::string_view pointer) {
  const io::Json* value = io::resolve(tree, pointer);
  return value != nullptr && value->is_number() ? static_cast<std::int64_t>(value->as_double()) : 1;
}

std::int64_t ranks_of(const io::Json& scenario) {
  const io::Json* counts = io::resolve(scenario, "/cluster/ranks_per_node");
  if (counts == nullptr || !counts->is_array()) {
    return integer_at(scenario, "/cluster/nodes") * integer_at(scenario, "/cluster/gpus_per_node");
  }
  double ranks = 0;
  for (const io::Json& count : counts->as_array()) {
    ranks += count.is_number() ? count.as_double() : 0;
  }
  return static_cast<std::int64_t>(ranks);
}

// The micro-batches of a step; 1 where the key is left out.
std::int64_t micro_batches_of(const io::Json& scenario) {
  const io::Json* word = io::resolve(scenario, "/training/algorithm");
  const auto algorithm = word != nullptr && word->is_string()
                             ? kTrainingAlgorithms.find(word->as_string())
                             : std::nullopt;
  return accumulates(algorithm.value_or(TrainingAlgorithm::sync_sgd))
             ? integer_at(scenario, keys::pointer_of(keys::kMicroBatches))
             : 1;
}

constexpr std::string_view kTokens = "sequence_length"; // of a sample

std::optional<bool> fits_in(const io::Json& row) {
  const io::Json* fits = row.find("memory_fits");
  return fits != nullptr && fits->is_bool() ? std::optional(fits->as_bool()) : std::nullopt;
}

} // namespace

// The workers are those of the result, whose speed-up is workers times efficiency: a preset of a
// cluster gives a node GPUs that no key of the scenario names.
std::optional<std::int64_t> workers_of(const io::Json& row) {
  const std::optional<double> speedup = number_in(row, "speedup");
  const std::optional<double> efficiency = number_in(row, "scaling_efficiency");
  return speedup && efficiency && *efficiency > 0
             ? std::optional(std::llround(*speedup / *efficiency))
             : std::nullopt;
}

std::int64_t batches_of_row(const Sweep& sweep, const io::Json& row) {
  const io::Json scenario = scenario_at(sweep.base, sweep.grid, row.find("point")->as_integer());
  return workers_of(row).value_or(ranks_of(scenario)) * micro_batches_of(scenario);
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
  const std::optional<double> time = number_in(row, kIterationTime);
  switch (by) {
  case BestBy::iteration_time:
    return time;
  case BestBy::throughput:
    if (has_samples) { // tokens, where samples have different numbers of them
      const std::optional<double> samples = number_in(row, "samples_per_s");
      return samples ? std::optional(*samples * number_in(row, kTokens).value_or(1)) : std::nullopt;
    }
    return time && *time > 0 ? std::optional(static_cast<double>(batches) / *time) : std::nullopt;
  case BestBy::efficiency:
    return number_in(row, "scaling_efficiency");
  }
  return std::nullopt;
}

bool exceeds_memory(const io::Json& row) { return !fits_in(row).value_or(true); }

std::string memory_verdict_of(const io::Json& row) {
  return memory_verdict(number_in(row, "memory_bytes"), number_in(row, "memory_high_bytes"),
                        number_in(row, "memory_capacity_bytes"), fits_in(row));
}

// Of rows that are equal but for rounding the first is the best.
Ranking rank_rows(std::span<const io::Json> rows, std::span<const std::int64_t> batches,
                  std::optional<BestBy> asked) {
  Ranking ranking;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (error_in(rows[i]).empty()) {
      first = first.value_or(i);
      ranking.batches_differ |=
          batches[i] != batches[*first] ||
          number_in(rows[i], "batch_size") != number_in(rows[*first], "batch_size") ||
          number_in(rows[i], kTokens) != number_in(rows[*first], kTokens);
    }
  }
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
    const bool better =
        !ranking.best ||
        (less_is_better ? base::comparable(*value) < base::comparable(*values[*ranking.best])
                        : base::comparable(*value) > base::comparable(*values[*ranking.best]));
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
  if (ranking.best && exceeds_memory(rows[*ranking.best])) {
    ranking.best.reset(); // the others do, too
  }
  if (ranking.best) {
    std::vector<double> log_times;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool counts = values[i] && !exceeds_memory(rows[i]);
      const double log = counts ? std::log(*values[i]) : HUGE_VAL;
      log_times.push_back(less_is_better || !counts ? log : -log);
    }
    ranking.standings = standings(rows, log_times, *ranking.best);
  }
  return ranking;
}

} // namespace stepsim::study
