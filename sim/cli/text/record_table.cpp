// A record is flat JSON. Which columns a table has follows from the keys that any of its rows has,
// so that sweeps of different scenarios need no list of columns here.
#include "cli/text/record_table.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <set>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "cli/shell/table.hpp"
#include "json/json_text.hpp"

namespace stepsim::cli {

namespace {

// Empty for an absent key, null or a word.
std::optional<double> number_of(const io::Json& row, std::string_view key) {
  const io::Json* value = row.find(key);
  return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

// "-" for an absent key or null.
std::string text_of(const io::Json& row, std::string_view key) {
  const io::Json* value = row.find(key);
  if (value == nullptr || value->is_null()) {
    return "-";
  }
  return value->is_string() ? value->as_string() : io::compact(*value);
}

// "/cluster/nodes" -> "nodes"; a name without a slash stays.
std::string last_token(const std::string& field) { return field.substr(field.rfind('/') + 1); }

// The fields as a table names them: the last token of a pointer, or the whole pointer where two
// fields would have the same name.
std::vector<std::string> names_of(std::span<const std::string> varied) {
  std::vector<std::string> names;
  for (const std::string& field : varied) {
    const auto same = std::ranges::count(varied, last_token(field), last_token);
    names.push_back(same > 1 ? field : last_token(field));
  }
  return names;
}

// How a varied field is shown: "bandwidth [Gb/s]", values times `factor`.
struct Shown {
  std::string heading;
  double factor = 1;
};

// The unit follows from the end of the key; counts, ratios and words have none.
Shown shown(const std::string& field) {
  const auto with = [&](std::string_view suffix, const char* unit, double factor) {
    std::string name = field;
    if (name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
    }
    return Shown{name + " [" + unit + "]", factor};
  };
  const auto kind = base::kind_of_key(field.substr(field.rfind('/') + 1));
  if (!kind) {
    return {field, 1};
  }
  switch (*kind) {
  case base::QuantityKind::time:
    return with("_s", "us", 1e6);
  case base::QuantityKind::rate:
    return with("_Bps", "Gb/s", 8e-9);
  case base::QuantityKind::size:
    return with("_bytes", "MB", 1e-6);
  case base::QuantityKind::flops:
    return with("_Ps", "TFlop/s", 1e-12);
  case base::QuantityKind::ratio:
  case base::QuantityKind::count:
    break;
  }
  return {field, 1};
}

// Integers and decimal fractions without a unit stay as they were written.
std::string varied_cell(const io::Json& row, const std::string& field, double factor) {
  const auto number = number_of(row, field);
  if (!number) {
    return base::shown_value(text_of(row, field));
  }
  return factor == 1 ? io::compact(*row.find(field)) : cell(*number * factor);
}

// Empty stays empty.
std::optional<double> times(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

// Bandwidths in Gb/s where compression is faster: "< 148", "> 9330", "20.5 .. 51.5", "always",
// "never".
std::string wins_cell(const io::Json& row) {
  const io::Json* list = row.find("compression_wins");
  if (list == nullptr || !list->is_array()) {
    return "-";
  }
  std::string text;
  for (const io::Json& each : list->as_array()) {
    const double from = number_of(each, "from_Bps").value_or(0);
    const auto to = number_of(each, "to_Bps");
    const auto rate = [](double value) { return base::significant(value * 8e-9, 3); };
    text += text.empty() ? "" : ", ";
    if (from > 0) {
      text += to ? rate(from) + " .. " + rate(*to) : "> " + rate(from);
    } else {
      text += to ? "< " + rate(*to) : "always";
    }
  }
  return text.empty() ? "never" : text;
}

// How a column shows the value of its key.
enum class RecordLook { word, number, time, part, wins };

struct RecordColumn {
  std::string key, heading;
  RecordLook look{};
  double factor = 1; // of a number
};

// Whether a column has anything to show.
bool any_has(std::span<const io::Json> rows, std::string_view key) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const io::Json& row) { return number_of(row, key).has_value(); });
}

// A part of the iteration is 0 where it is below the rounding of the whole.
std::string cell_of(const io::Json& row, const RecordColumn& column) {
  const auto number = number_of(row, column.key);
  switch (column.look) {
  case RecordLook::word:
    return text_of(row, column.key);
  case RecordLook::number:
    return cell(times(number, column.factor));
  case RecordLook::time:
    return milliseconds_cell(number);
  case RecordLook::part:
    return milliseconds_cell(part_of(number, number_of(row, "iteration_time_s")));
  case RecordLook::wins:
    return wins_cell(row);
  }
  return {};
}

// Columns of `compare` and `sweep`; table_of_rows() knows which need rows that have them.
const std::vector<RecordColumn>& row_columns() {
  static const std::vector<RecordColumn> columns{
      {"iteration_time_s", "iteration [ms]", RecordLook::time},
      {"ratio", "ratio", RecordLook::number},
      {"compute_s", "compute [ms]", RecordLook::part},
      {"communication_s", "communication [ms]", RecordLook::part},
      {"exposed_communication_s", "exposed [ms]", RecordLook::part},
      {"speedup", "speed-up", RecordLook::number},
      {"scaling_efficiency", "efficiency [%]", RecordLook::number, 100},
      {"samples_per_s", "samples/s", RecordLook::number},
      {"fct_p99_s", "messages 99 % [ms]", RecordLook::time},
      {"loss_fraction", "loss [%]", RecordLook::number, 100},
      {"time_to_accuracy_s", "to accuracy [h]", RecordLook::number, 1.0 / 3600},
      {"bottleneck", "bottleneck", RecordLook::word},
  };
  return columns;
}

const std::vector<RecordColumn>& algorithm_looks() {
  static const std::vector<RecordColumn> columns{
      {"algorithm", "algorithm", RecordLook::word},
      {"iteration_time_s", "iteration [ms]", RecordLook::time},
      {"ratio", "slower than best", RecordLook::number},
      {"exposed_communication_s", "exposed [ms]", RecordLook::part},
      {"wire_bytes", "sent per worker [MB]", RecordLook::number, 1e-6},
      {"speedup_vs_dense_overlapped", "faster than dense", RecordLook::number},
      {"staleness_mean", "staleness", RecordLook::number},
      {"compression_wins", "wins at [Gb/s]", RecordLook::wins},
  };
  return columns;
}

// The meanings of these columns and of the last one, for help.
constexpr std::array kAlgorithmMeanings{
    "one of those below",
    "from one start of an iteration to the next",
    "iteration time over the shortest of the same block",
    "communication that computing does not hide",
    "per iteration, by the worker that sends most",
    "compressed only: iteration time of the same training without compression, in PyTorch's "
    "buckets behind backward, over this one",
    "age of an applied gradient, mean: iterations (pipe_sgd) or updates of others (ps_async); "
    "0 = synchronous",
    "with --break-even, compressed only: bandwidths between 10 Mb/s and 10 Tb/s at which it is "
    "faster than dense; < 148 = below 148 Gb/s",
    "what the row takes for granted; \"by default\": the scenario does not say it"};

// The columns that --columns names, in its order: as a table shows them by itself, else by the unit
// at the end of the key. Without --columns, those of `known` for which `is_shown` is true.
template <typename IsShown>
std::vector<RecordColumn>
chosen_columns(std::span<const io::Json> rows, std::span<const std::string> names,
               const std::vector<RecordColumn>& known, const IsShown& is_shown) {
  std::vector<RecordColumn> columns;
  if (names.empty()) {
    std::ranges::copy_if(known, std::back_inserter(columns), is_shown);
  }
  for (const std::string& name : names) {
    const auto found = std::ranges::find(known, name, &RecordColumn::key);
    if (found != known.end()) {
      columns.push_back(*found);
    } else if (base::kind_of_key(name) == base::QuantityKind::time) {
      columns.push_back({name, name.substr(0, name.rfind('_')) + " [ms]", RecordLook::time});
    } else {
      const auto [heading, factor] = shown(name);
      columns.push_back(
          {name, heading, any_has(rows, name) ? RecordLook::number : RecordLook::word, factor});
    }
  }
  return columns;
}

// A row that failed has its error in the last column.
Table table_of_rows(const RecordRows& records) {
  const auto& [rows, varied, ranking, batches, chosen] = records;
  const auto is_shown = [&](const RecordColumn& column) {
    const std::string& key = column.key;
    if (key == "ratio") {
      return any_has(rows, key) && std::ranges::find(varied, key) == varied.end();
    }
    if (key == "loss_fraction") {
      return std::ranges::any_of(
          rows, [&](const io::Json& row) { return number_of(row, key).value_or(0) > 0; });
    }
    const bool optional =
        key == "samples_per_s" || key == "fct_p99_s" || key == "time_to_accuracy_s";
    return key == "speedup" ? ranking.batches_differ : !optional || any_has(rows, key);
  };
  const std::vector<RecordColumn> columns = chosen_columns(rows, chosen, row_columns(), is_shown);
  Table table;
  const std::vector<std::string> names = names_of(varied);
  for (const std::string& name : names) {
    table.headings.push_back(shown(name).heading);
  }
  for (const RecordColumn& column : columns) {
    table.headings.push_back(column.heading);
  }
  table.headings.emplace_back();
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const io::Json& row = rows[r];
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (std::size_t i = 0; i < varied.size(); ++i) {
      cells.push_back(varied_cell(row, varied[i], shown(names[i]).factor));
    }
    for (const RecordColumn& column : columns) {
      cells.push_back(cell_of(row, column));
    }
    const std::string error = text_of(row, "error");
    cells.push_back(error != "-" ? "error: " + error : r == ranking.best ? "best" : "");
  }
  return table;
}

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

// What makes a row the best, in words, and the factor from SI to the unit in them.
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
    return {study::has_samples(records.rows) ? "samples/s" : "worker iterations per second", 1};
  case study::BestBy::efficiency:
    return {"efficiency [%]", 100};
  }
  return {};
}

// A table of both varied fields against the criterion. None where that would be a single row or
// column, more than 12 columns, or where the rows are not exactly all combinations: a hole or a
// repetition would put a wrong number into a cell.
std::vector<Table> pivot(const RecordRows& records) {
  constexpr std::size_t kMostColumns = 12;
  if (records.varied.size() != 2) {
    return {};
  }
  std::size_t down = 0;
  std::vector<const io::Json*> left = values_of(records.rows, records.varied[0]);
  std::vector<const io::Json*> top = values_of(records.rows, records.varied[1]);
  if (top.size() > kMostColumns) {
    std::swap(left, top);
    down = 1;
  }
  if (left.size() < 2 || top.size() < 2 || top.size() > kMostColumns ||
      left.size() * top.size() != records.rows.size()) {
    return {};
  }
  const std::string& field_left = records.varied[down];
  const std::string& field_top = records.varied[1 - down];
  const std::vector<std::string> names = names_of(records.varied);
  const Shown left_shown = shown(names[down]);
  const Shown top_shown = shown(names[1 - down]);
  const Criterion by = criterion(records);
  const bool samples = study::has_samples(records.rows);
  Table table;
  table.caption = by.text + " by " + left_shown.heading + " (down) and " + top_shown.heading +
                  " (across); * = best";
  table.headings.push_back(left_shown.heading);
  const auto value_cell = [](const io::Json& value, const std::string& field, double factor) {
    return varied_cell(io::Object{{field, value}}, field, factor);
  };
  for (const io::Json* value : top) {
    table.headings.push_back(value_cell(*value, field_top, top_shown.factor));
  }
  for (const io::Json* value : left) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    cells.push_back(value_cell(*value, field_left, left_shown.factor));
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
    const auto value = study::value_by(records.ranking.by, row, records.batches[r], samples);
    table.rows[down_at][1 + across_at] =
        cell(times(value, by.factor)) + (r == records.ranking.best ? " *" : "");
  }
  return {std::move(table)};
}

} // namespace

// The small table comes first: it answers most questions about two fields. Whoever chooses columns
// asks for another table.
std::vector<Table> record_tables(const RecordRows& records) {
  std::vector<Table> tables = records.chosen.empty() ? pivot(records) : std::vector<Table>();
  tables.push_back(table_of_rows(records));
  return tables;
}

std::vector<AlgorithmColumn> algorithm_columns() {
  std::vector<AlgorithmColumn> columns;
  for (const RecordColumn& column : algorithm_looks()) {
    columns.push_back({column.heading, kAlgorithmMeanings[columns.size()]});
  }
  columns.push_back({"assumes", kAlgorithmMeanings.back()});
  return columns;
}

// Rows come sorted by combination: a new combination begins a new table.
std::vector<Table> algorithm_tables(std::span<const io::Json> rows,
                                    std::span<const std::string> varied,
                                    std::span<const std::string> chosen) {
  const bool with_break_even = std::ranges::any_of(
      rows, [](const io::Json& row) { return row.find("break_even_Bps") != nullptr; });
  std::vector<RecordColumn> columns =
      chosen_columns(rows, chosen, algorithm_looks(), [&](const RecordColumn& column) {
        return with_break_even || column.look != RecordLook::wins;
      });
  if (!chosen.empty()) {
    columns.insert(columns.begin(), algorithm_looks().front());
  }
  std::vector<Table> tables;
  const std::vector<std::string> names = names_of(varied);
  for (const io::Json& row : rows) {
    std::string place;
    for (std::size_t i = 0; i < varied.size(); ++i) {
      const std::string& field = varied[i];
      if (field != "algorithm") {
        const Shown how = shown(names[i]);
        place +=
            (place.empty() ? "" : ", ") + how.heading + " = " + varied_cell(row, field, how.factor);
      }
    }
    if (tables.empty() || place != tables.back().caption) {
      Table& table = tables.emplace_back();
      table.caption = place;
      for (const RecordColumn& column : columns) {
        table.headings.push_back(column.heading);
      }
      table.headings.emplace_back("assumes");
    }
    std::vector<std::string>& cells = tables.back().rows.emplace_back();
    for (const RecordColumn& column : columns) {
      cells.push_back(cell_of(row, column));
    }
    const std::string error = text_of(row, "error");
    cells.push_back(error != "-" ? "error: " + error : text_of(row, "assumes"));
  }
  return tables;
}

} // namespace stepsim::cli
