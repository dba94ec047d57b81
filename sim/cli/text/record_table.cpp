// A record is flat JSON. Which columns a table has follows from the keys that any of its rows has,
// so that sweeps of different scenarios need no list of columns here.
#include "cli/text/record_table.hpp"

#include "cli/shell/unit_text.hpp"
#include "cli/text/answer_texts.hpp"

namespace stepsim::cli {

namespace {

// Bandwidths in Gb/s where compression is faster: "< 148", "> 9330", "20.5 .. 51.5", "always",
// "never".
std::string wins(const io::Json& row, const Column& column) {
  const io::Json* list = row.find(column.key);
  if (list == nullptr || !list->is_array()) {
    return "-";
  }
  std::string text;
  for (const io::Json& each : list->as_array()) {
    const double from = study::number_in(each, "from_Bps").value_or(0);
    const auto to = study::number_in(each, "to_Bps");
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

// What would tell the row from the best one, where their order is not sure.
std::string undecided(const io::Json& row) {
  const io::Json* factor = row.find("not_told_apart");
  if (factor == nullptr || !factor->is_string()) {
    return {};
  }
  return factor->as_string() == study::kRestOfInterval
             ? "not told apart: the difference is within run-to-run noise"
         : factor->as_string() == study::kMeanOfInterval
             ? "not told apart: more iterations may tell"
             : "not told apart: measure " + part_text(factor->as_string());
}

// What the row is beside the others: too large, the best, not told apart; and whether it may not
// fit.
std::string mark_of(const io::Json& row, bool is_best) {
  if (study::exceeds_memory(row)) {
    return study::memory_verdict_of(row);
  }
  const auto high = study::number_in(row, "memory_high_bytes");
  const auto capacity = study::number_in(row, "memory_capacity_bytes");
  const std::string standing = is_best ? "best" : undecided(row);
  const io::Json* fits = row.find("memory_fits");
  const bool is_open = (high && capacity && *high > *capacity) ||
                       (is_best && capacity && fits != nullptr && fits->is_null());
  return is_open ? standing + (standing.empty() ? "" : "; ") + study::memory_verdict_of(row)
                 : standing;
}

// A part of the iteration is 0 where it is below the rounding of the whole.
std::string part(const io::Json& row, const Column& column) {
  return milliseconds_cell(
      part_of(study::number_in(row, column.key), study::number_in(row, study::kIterationTime)));
}

// Whether a column has anything to show.
bool any_has(std::span<const io::Json> rows, std::string_view key) {
  return std::ranges::any_of(
      rows, [&](const io::Json& row) { return study::number_in(row, key).has_value(); });
}

constexpr std::string_view kIntervalLevel = "interval_level";

// Stands beside every iteration time.
Column band_column() { return {std::string(kIntervalLevel), "interval [ms]", 1e3, band_cell}; }

// Figures of the whole training, in the tables of scenarios that say how much there is of it.
const std::array<Column, 3>& job_columns() {
  static const std::array<Column, 3> columns{
      Column{"time_to_finish_s", "to finish [days]", 1.0 / 86400},
      Column{"cost_usd", "cost [USD]"},
      Column{"goodput", "goodput [%]", 100},
  };
  return columns;
}

bool is_of_job(std::string_view key) {
  return std::ranges::find(job_columns(), key, &Column::key) != job_columns().end();
}

// Columns of `compare` and `sweep`; table_of_rows() knows which need rows that have them.
const std::vector<Column>& row_columns() {
  static const std::vector<Column> columns{
      {std::string(study::kIterationTime), "iteration [ms]", 1e3},
      band_column(),
      {"ratio", "ratio"},
      {"stated_rank", "rank", 1, in_full},
      {"compute_s", "compute [ms]", 1e3, part},
      {"compress_s", "compress [ms]", 1e3, part},
      {"communication_s", "communication [ms]", 1e3, part},
      {"exposed_communication_s", "exposed [ms]", 1e3, part},
      {"speedup", "speed-up"},
      {"scaling_efficiency", "efficiency [%]", 100},
      {"samples_per_s", "samples/s"},
      {"fct_p99_s", "messages 99 % [ms]", 1e3},
      {"loss_fraction", "loss [%]", 100},
      {"time_to_accuracy_s", "to accuracy [h]", 1.0 / 3600},
      job_columns()[0],
      job_columns()[1],
      job_columns()[2],
      {"bottleneck", "bottleneck", 1, in_full},
  };
  return columns;
}

const std::vector<Column>& algorithm_looks() {
  static const std::vector<Column> columns{
      {"algorithm", "algorithm", 1, in_full},
      {std::string(study::kIterationTime), "iteration [ms]", 1e3},
      band_column(),
      {"speedup", "speed-up"},
      {"ratio", "slower than best"},
      {"stated_rank", "rank", 1, in_full},
      {"exposed_communication_s", "exposed [ms]", 1e3, part},
      {"wire_bytes", "sent per worker [MB]", 1e-6},
      {"speedup_vs_dense_overlapped", "faster than dense"},
      {"staleness_mean", "staleness"},
      job_columns()[0],
      job_columns()[1],
      job_columns()[2],
      {"compression_wins", "wins at [Gb/s]", 1, wins},
      {"compression_wins_sequential", "wins over sequential at [Gb/s]", 1, wins},
  };
  return columns;
}

// The meanings of these columns and of the last one, for help.
constexpr std::array kAlgorithmMeanings{
    "one of those below",
    "from one start of an iteration to the next",
    "of the iteration time: its ends, and the share of all cases between them",
    "where the number of workers differs: how much faster than one worker",
    "time of a batch over the shortest of the same block",
    "under typical conditions; rows share one where the model cannot order them",
    "communication that computing does not hide",
    "per iteration, by the worker that sends most",
    "compressed only: iteration time of the same training without compression, in PyTorch's "
    "buckets behind backward, over this one",
    "age of an applied gradient, mean: iterations (pipe_sgd) or updates of others (ps_async); "
    "0 = synchronous",
    "with --samples or --tokens: time of the whole training",
    "price of all GPUs for that time",
    "with --mtbf: share of the time that failures, checkpoints and restarts leave",
    "with --break-even, compressed only: bandwidths between 10 Mb/s and 10 Tb/s at which it is "
    "faster than dense; < 148 = below 148 Gb/s",
    "of a file of kind compression_breakeven: the same against dense training that exchanges after "
    "backward",
    "what the row takes for granted; \"by default\": the scenario does not say it"};

// The columns that --columns names, in its order: as a table shows them by itself, else by the unit
// at the end of the key. Without --columns, those of `known` for which `is_shown` is true.
template <typename IsShown>
std::vector<Column> chosen_columns(std::span<const io::Json> rows,
                                   std::span<const std::string> names,
                                   const std::vector<Column>& known, const IsShown& is_shown) {
  std::vector<Column> columns;
  if (names.empty()) {
    std::ranges::copy_if(known, std::back_inserter(columns), is_shown);
  }
  for (const std::string& name : names) {
    if (const auto found = std::ranges::find(known, name, &Column::key); found != known.end()) {
      columns.push_back(*found);
      if (name == study::kIterationTime && any_has(rows, kIntervalLevel) &&
          std::ranges::find(names, kIntervalLevel) == names.end()) {
        columns.push_back(band_column());
      }
    } else {
      const bool is_time = quantity_of(name) == base::QuantityKind::time;
      const auto [heading, factor] = is_time ? column_unit(name) : field_unit(name);
      columns.push_back({name, heading, factor, any_has(rows, name) ? nullptr : in_full});
    }
  }
  return columns;
}

// A row that failed has its error in the last column.
Table table_of_rows(const RecordRows& records) {
  const auto& [rows, varied, ranking, batches, chosen] = records;
  const auto is_shown = [&](const Column& column) {
    const std::string& key = column.key;
    if (key == "ratio") {
      return any_has(rows, key) && std::ranges::find(varied, key) == varied.end();
    }
    if (key == "loss_fraction" || key == "compress_s") {
      return std::ranges::any_of(
          rows, [&](const io::Json& row) { return study::number_in(row, key).value_or(0) > 0; });
    }
    const bool optional = key == kIntervalLevel || key == "stated_rank" || key == "samples_per_s" ||
                          key == "fct_p99_s" || key == "time_to_accuracy_s" || is_of_job(key);
    return key == "speedup" ? ranking.batches_differ : !optional || any_has(rows, key);
  };
  const std::vector<Column> columns = chosen_columns(rows, chosen, row_columns(), is_shown);
  Table table;
  const std::vector<std::string> names = field_names(varied);
  for (std::size_t i = 0; i < varied.size(); ++i) {
    const auto [heading, factor] = field_unit(names[i], largest_of(rows, varied[i]));
    add_column(table, heading, rows, [&, factor = factor](const io::Json& row) {
      return varied_cell(row, varied[i], factor);
    });
  }
  for (const Column& column : columns) {
    add_column(table, column.heading, rows,
               [&](const io::Json& row) { return cell_of(row, column); });
  }
  const io::Json* best = ranking.best ? &rows[*ranking.best] : nullptr;
  add_column(table, "", rows, [&](const io::Json& row) {
    const std::string error = study::error_in(row);
    return !error.empty() ? "error: " + error : mark_of(row, &row == best);
  });
  return table;
}

} // namespace

// The small table comes first: it answers most questions about two fields. Whoever chooses columns
// asks for another table.
std::vector<Table> record_tables(const RecordRows& records) {
  std::vector<Table> tables = records.chosen.empty() ? pivot_tables(records) : std::vector<Table>();
  tables.push_back(table_of_rows(records));
  return tables;
}

std::vector<Candidate> algorithm_columns() {
  std::vector<Candidate> columns;
  for (const Column& column : algorithm_looks()) {
    columns.push_back({column.heading, kAlgorithmMeanings[columns.size()]});
  }
  columns.push_back({"assumes", kAlgorithmMeanings.back()});
  return columns;
}

// Rows come sorted by combination: a new combination begins a new table.
std::vector<Table> algorithm_tables(std::span<const io::Json> rows,
                                    std::span<const std::string> varied,
                                    std::span<const std::string> chosen) {
  const std::vector<std::string> names = field_names(varied);
  const auto place_of = [&](const io::Json& row) {
    std::string place;
    for (std::size_t i = 0; i < varied.size(); ++i) {
      if (varied[i] != "algorithm") {
        const auto [heading, factor] = field_unit(names[i], largest_of(rows, varied[i]));
        place +=
            (place.empty() ? "" : ", ") + heading + " = " + varied_cell(row, varied[i], factor);
      }
    }
    return place;
  };
  std::vector<Column> columns =
      chosen_columns(rows, chosen, algorithm_looks(), [&](const Column& column) {
        if (column.key == "speedup") {
          return std::ranges::adjacent_find(rows, [&](const io::Json& a, const io::Json& b) {
                   return place_of(a) == place_of(b) && study::workers_of(a) &&
                          study::workers_of(b) && study::workers_of(a) != study::workers_of(b);
                 }) != rows.end();
        }
        const bool always = column.show != wins && column.key != "stated_rank";
        return column.key == kIntervalLevel || is_of_job(column.key)
                   ? any_has(rows, column.key)
                   : always || std::ranges::any_of(rows, [&](const io::Json& row) {
                       return row.find(column.key) != nullptr;
                     });
      });
  if (!chosen.empty()) {
    columns.insert(columns.begin(), algorithm_looks().front());
  }
  std::vector<Table> tables;
  while (!rows.empty()) {
    const std::string place = place_of(rows.front());
    const auto end =
        std::ranges::find_if(rows, [&](const io::Json& row) { return place_of(row) != place; });
    const auto block = rows.first(static_cast<std::size_t>(end - rows.begin()));
    Table& table = tables.emplace_back(table_of(block, columns));
    table.caption = place;
    add_column(table, "assumes", block, [](const io::Json& row) {
      const std::string error = study::error_in(row);
      const std::string open = mark_of(row, false);
      return !error.empty()
                 ? "error: " + error
                 : (open.empty() ? "" : open + "; ") + in_full(row, {"assumes", "assumes"});
    });
    rows = rows.subspan(block.size());
  }
  return tables;
}

// "/cluster/nodes" -> "nodes"; a name without a slash stays.
std::string last_token(const std::string& field) { return field.substr(field.rfind('/') + 1); }

// The fields as a table names them: the last token of a pointer, or the whole pointer where two
// fields would have the same name.
std::vector<std::string> field_names(std::span<const std::string> varied) {
  std::vector<std::string> names;
  for (const std::string& field : varied) {
    const auto same = std::ranges::count(varied, last_token(field), last_token);
    names.push_back(same > 1 ? field : last_token(field));
  }
  return names;
}

double largest_of(std::span<const io::Json> rows, const std::string& field) {
  return base::greatest<double>(
      rows, 0, [&](const io::Json& row) { return study::number_in(row, field).value_or(0); });
}

// Integers and decimal fractions without a unit stay as they were written.
std::string varied_cell(const io::Json& row, const std::string& field, double factor) {
  const auto number = study::number_in(row, field);
  if (!number) {
    return base::shown_value(in_full(row, {field, field}));
  }
  return factor == 1 ? io::compact(*row.find(field)) : cell(*number * factor);
}

std::string band_cell(const io::Json& record, const Column& column) {
  const auto band = study::band_in(record);
  return band ? base::readable_band(*band, column.factor) : "";
}

} // namespace stepsim::cli
