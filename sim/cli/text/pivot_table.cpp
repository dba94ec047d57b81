#include "cli/text/record_table.hpp"

#include "cli/shell/unit_text.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::cli {

namespace {

// The different values of a field, in the order of the rows' first look at them; numbers ascend.
std::vector<const io::Json*> values_of(std::span<const io::Json> rows, const std::string& field) {
  std::vector<const io::Json*> values;
  for (const io::Json& row : rows) {
    const io::Json* value = row.find(field);
    const bool is_new = std::ranges::none_of(
        values, [&](const io::Json* known) { return value != nullptr && *known == *value; });
    if (value != nullptr && is_new) {
      values.push_back(value);
    }
  }
  if (std::ranges::all_of(values, &io::Json::is_number)) {
    std::ranges::stable_sort(values, {}, [](const io::Json* each) { return each->as_double(); });
  }
  return values;
}

// The ranking criterion in words, and the factor from SI to its unit.
struct Criterion {
  std::string text;
  double factor = 1;
};

// Without a batch size throughput counts workers per second: it ranks the same.
Criterion criterion(const RecordRows& records) {
  switch (records.ranking.by) {
  case study::BestBy::iteration_time:
    return {"iteration time [ms]", 1e3};
  case study::BestBy::throughput:
    return {study::has_samples(records.rows) ? "samples/s" : "iterations/s of all workers", 1};
  case study::BestBy::efficiency:
    return {"efficiency [%]", 100};
  }
  return {};
}

// The value of a row with its interval. A throughput is as far off as the iteration time.
std::string value_cell(const RecordRows& records, std::size_t r, bool samples) {
  const study::BestBy by = records.ranking.by;
  const io::Json& row = records.rows[r];
  const auto value = study::value_by(by, row, records.batches[r], samples);
  if (!value) {
    return cell(value);
  }
  const double factor = criterion(records).factor;
  auto band = study::band_in(row);
  if (band && by == study::BestBy::throughput) {
    const double step = *study::number_in(row, study::kIterationTime);
    band = {
        .low = *value * step / band->high, .high = *value * step / band->low, .level = band->level};
  }
  return cell(*value * factor) +
         (band && by != study::BestBy::efficiency ? " " + base::readable_band(*band, factor) : "");
}

} // namespace

std::vector<Table> pivot_tables(const RecordRows& records) {
  const bool wide = std::ranges::any_of(
      records.rows, [](const io::Json& row) { return study::band_in(row).has_value(); });
  const std::size_t most_columns = wide ? 5 : 12;
  if (records.varied.size() != 2) {
    return {};
  }
  std::size_t down = 0;
  std::vector<const io::Json*> left = values_of(records.rows, records.varied[0]);
  std::vector<const io::Json*> top = values_of(records.rows, records.varied[1]);
  if (top.size() > most_columns) {
    std::swap(left, top);
    down = 1;
  }
  if (left.size() < 2 || top.size() < 2 || top.size() > most_columns ||
      left.size() * top.size() != records.rows.size()) {
    return {};
  }
  const std::string& field_left = records.varied[down];
  const std::string& field_top = records.varied[1 - down];
  const std::vector<std::string> names = field_names(records.varied);
  const ColumnUnit left_shown = field_unit(names[down], largest_of(records.rows, field_left));
  const ColumnUnit top_shown = field_unit(names[1 - down], largest_of(records.rows, field_top));
  const bool samples = study::has_samples(records.rows);
  Table table;
  table.caption =
      criterion(records).text + " by " + left_shown.heading + " (down) and " + top_shown.heading +
      " (across); * = best" +
      (std::ranges::any_of(records.rows, study::exceeds_memory) ? ", ! = does not fit" : "");
  table.headings.push_back(left_shown.heading);
  const auto field_cell = [](const io::Json& value, const std::string& field, double factor) {
    return varied_cell(io::Object{{field, value}}, field, factor);
  };
  for (const io::Json* value : top) {
    table.headings.push_back(field_cell(*value, field_top, top_shown.factor));
  }
  for (const io::Json* value : left) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    cells.push_back(field_cell(*value, field_left, left_shown.factor));
    cells.resize(1 + top.size(), "-");
  }
  std::set<std::pair<std::size_t, std::size_t>> taken;
  for (std::size_t r = 0; r < records.rows.size(); ++r) {
    const io::Json& row = records.rows[r];
    // Behind the last value for a row that lacks the field.
    const auto place = [&](const std::vector<const io::Json*>& values, const std::string& field) {
      const io::Json* value = row.find(field);
      const auto found = std::ranges::find_if(
          values, [&](const io::Json* each) { return value != nullptr && *each == *value; });
      return static_cast<std::size_t>(found - values.begin());
    };
    const std::size_t down_at = place(left, field_left);
    const std::size_t across_at = place(top, field_top);
    if (down_at == left.size() || across_at == top.size() ||
        !taken.emplace(down_at, across_at).second) {
      return {};
    }
    table.rows[down_at][1 + across_at] =
        value_cell(records, r, samples) + (study::exceeds_memory(records.rows[r]) ? " !"
                                           : r == records.ranking.best            ? " *"
                                                                                  : "");
  }
  return {std::move(table)};
}

} // namespace stepsim::cli
