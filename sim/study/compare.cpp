// The rows are records of a sweep without their place in it; ratios and order are made from them.
#include "study/compare.hpp"

namespace stepsim::study {

namespace {

// null where a row failed.
void set_ratios(Comparison& comparison) {
  for (std::size_t i = 0; i < comparison.ranking.standings.size(); ++i) {
    set_standing(comparison.ranking.standings[i], comparison.rows[i]);
  }
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    comparison.rows[i].set("ratio", io::or_null(comparison.ranking.ratios[i]));
  }
}

// Rows that failed last, before them those that need more memory than a device has; equal ones stay
// in the order of the grid.
void sort_best_first(Comparison& comparison) {
  std::vector<std::size_t> order(comparison.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto ratio_of = [&](std::size_t i) {
    const std::optional<double>& ratio = comparison.ranking.ratios[i];
    return std::pair(ratio ? int{exceeds_memory(comparison.rows[i])} : 2,
                     ratio ? base::comparable(*ratio) : HUGE_VAL);
  };
  std::ranges::stable_sort(order, std::less<>(), ratio_of);
  const Comparison before = comparison;
  for (std::size_t i = 0; i < order.size(); ++i) {
    comparison.rows[i] = before.rows[order[i]];
    comparison.batches[i] = before.batches[order[i]];
    comparison.ranking.ratios[i] = before.ranking.ratios[order[i]];
    if (!before.ranking.standings.empty()) {
      comparison.ranking.standings[i] = before.ranking.standings[order[i]];
    }
  }
  if (comparison.ranking.best) {
    comparison.ranking.best = 0;
  }
}

} // namespace

void rank_and_sort(Comparison& comparison, std::optional<BestBy> best_by) {
  comparison.ranking = rank_rows(comparison.rows, comparison.batches, best_by);
  set_ratios(comparison);
  sort_best_first(comparison);
}

// A field may be called "ratio", as that of a codec is: it then goes by its whole pointer, because
// the comparison has a key of that name.
std::string take_varied(const Grid& grid, Comparison& comparison) {
  comparison.varied = grid.field_names();
  const auto ratio = std::ranges::find(comparison.varied, "ratio");
  if (ratio == comparison.varied.end()) {
    return "ratio";
  }
  return *ratio = grid.axes[static_cast<std::size_t>(ratio - comparison.varied.begin())].pointer;
}

Comparison compare(const Sweep& sweep, Files& files, const SweepOptions& options,
                   std::optional<BestBy> best_by) {
  Rows rows = rows_of(sweep, files, options);
  Comparison comparison;
  const std::string ratio_name = take_varied(sweep.grid, comparison);
  comparison.failed = rows.failed;
  comparison.warnings = std::move(rows.warnings);
  for (const io::Json& record : rows.records) {
    comparison.batches.push_back(batches_of_row(sweep, record));
    comparison.rows.push_back(without_place(record, ratio_name));
  }
  comparison.missing = rows.points - std::ssize(comparison.rows);
  if (comparison.rows.empty()) { // interrupted before the first
    return comparison;
  }
  comparison.ranking = rank_rows(comparison.rows, comparison.batches, best_by);
  set_ratios(comparison);
  if (!comparison.ranking.batches_differ) {
    sort_best_first(comparison);
  }
  return comparison;
}

} // namespace stepsim::study
