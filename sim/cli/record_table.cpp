#include "cli/record_table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "cli/table.hpp"

namespace stepsim::cli {

namespace {

std::optional<double> number_of(const io::Json& row, std::string_view key) {
  const io::Json* value = row.find(key);
  return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

std::string text_of(const io::Json& row, std::string_view key) {
  const io::Json* value = row.find(key);
  if (value == nullptr || value->is_null()) {
    return "-";
  }
  return value->is_string() ? value->as_string() : io::compact(*value);
}

// How a varied field is shown: "bandwidth [Gb/s]", values times `factor`.
struct Shown {
  std::string heading;
  double factor = 1;
};

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

std::string varied_cell(const io::Json& row, const std::string& field, double factor) {
  const auto number = number_of(row, field);
  if (!number) {
    return base::shown_value(text_of(row, field));
  }
  return factor == 1 ? io::compact(*row.find(field)) : cell(*number * factor);
}

std::optional<double> times(std::optional<double> value, double factor) {
  return value ? std::optional(*value * factor) : std::nullopt;
}

// The row with the least iteration time; none if all failed.
const io::Json* best_row(std::span<const io::Json> rows) {
  const io::Json* best = nullptr;
  double least = HUGE_VAL;
  for (const io::Json& row : rows) {
    const double time = number_of(row, "iteration_time_s").value_or(HUGE_VAL);
    if (time < least) {
      least = time;
      best = &row;
    }
  }
  return best;
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

constexpr std::string_view kWins = "wins at [Gb/s]";
constexpr std::array kAlgorithmColumns{
    AlgorithmColumn{"algorithm", "one of those below"},
    AlgorithmColumn{"iteration [ms]", "from one start of an iteration to the next"},
    AlgorithmColumn{"slower than best", "iteration time over the shortest of the same block"},
    AlgorithmColumn{"exposed [ms]", "communication that computing does not hide"},
    AlgorithmColumn{"sent per worker [MB]", "per iteration, by the worker that sends most"},
    AlgorithmColumn{"faster than dense", "compressed only: iteration time of the same training "
                                         "without compression, in PyTorch's buckets behind "
                                         "backward, over this one"},
    AlgorithmColumn{"staleness", "age of an applied gradient, mean: iterations (pipe_sgd) or "
                                 "updates of others (ps_async); 0 = synchronous"},
    AlgorithmColumn{kWins, "with --break-even, compressed only: bandwidths between 10 Mb/s and "
                           "10 Tb/s at which it is faster than dense; < 148 = below 148 Gb/s"},
    AlgorithmColumn{"assumes", "what the row takes for granted; \"by default\": the scenario "
                               "does not say it"},
};

bool any_has(std::span<const io::Json> rows, std::string_view key) {
  return std::any_of(rows.begin(), rows.end(),
                     [&](const io::Json& row) { return number_of(row, key).has_value(); });
}

} // namespace

std::string record_table(std::span<const io::Json> rows, std::span<const std::string> varied) {
  Table table;
  for (const std::string& field : varied) {
    table.headings.push_back(shown(field).heading);
  }
  const bool with_ratio =
      any_has(rows, "ratio") && std::find(varied.begin(), varied.end(), "ratio") == varied.end();
  const bool with_samples = any_has(rows, "samples_per_s");
  const bool with_messages = any_has(rows, "fct_p99_s");
  const bool with_loss = std::ranges::any_of(
      rows, [](const io::Json& row) { return number_of(row, "loss_fraction").value_or(0) > 0; });
  const bool with_accuracy = any_has(rows, "time_to_accuracy_s");
  table.headings.emplace_back("iteration [ms]");
  if (with_ratio) {
    table.headings.emplace_back("ratio");
  }
  for (const char* heading :
       {"compute [ms]", "communication [ms]", "exposed [ms]", "efficiency [%]"}) {
    table.headings.emplace_back(heading);
  }
  if (with_samples) {
    table.headings.emplace_back("samples/s");
  }
  if (with_messages) {
    table.headings.emplace_back("messages 99 % [ms]");
  }
  if (with_loss) {
    table.headings.emplace_back("loss [%]");
  }
  if (with_accuracy) {
    table.headings.emplace_back("to accuracy [h]");
  }
  table.headings.emplace_back("bottleneck");
  table.headings.emplace_back("");

  const io::Json* best = best_row(rows);
  for (const io::Json& row : rows) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    for (const std::string& field : varied) {
      cells.push_back(varied_cell(row, field, shown(field).factor));
    }
    cells.push_back(milliseconds_cell(number_of(row, "iteration_time_s")));
    if (with_ratio) {
      cells.push_back(cell(number_of(row, "ratio")));
    }
    cells.push_back(milliseconds_cell(number_of(row, "compute_s")));
    cells.push_back(milliseconds_cell(number_of(row, "communication_s")));
    cells.push_back(milliseconds_cell(number_of(row, "exposed_communication_s")));
    cells.push_back(cell(times(number_of(row, "scaling_efficiency"), 100)));
    if (with_samples) {
      cells.push_back(cell(number_of(row, "samples_per_s")));
    }
    if (with_messages) {
      cells.push_back(milliseconds_cell(number_of(row, "fct_p99_s")));
    }
    if (with_loss) {
      cells.push_back(cell(times(number_of(row, "loss_fraction"), 100)));
    }
    if (with_accuracy) {
      cells.push_back(cell(times(number_of(row, "time_to_accuracy_s"), 1.0 / 3600)));
    }
    cells.push_back(text_of(row, "bottleneck"));
    const std::string error = text_of(row, "error");
    cells.push_back(error != "-" ? "error: " + error : (&row == best ? "best" : ""));
  }
  return table_text(table);
}

std::span<const AlgorithmColumn> algorithm_columns() { return kAlgorithmColumns; }

std::string algorithm_table(std::span<const io::Json> rows, std::span<const std::string> varied) {
  const bool with_break_even = std::ranges::any_of(
      rows, [](const io::Json& row) { return row.find("break_even_Bps") != nullptr; });
  std::string out;
  Table table;
  std::string block;
  const auto flush = [&] {
    if (!table.rows.empty()) {
      out += (out.empty() ? "" : "\n") + (block.empty() ? block : block + "\n") + table_text(table);
    }
    table = {};
    for (const AlgorithmColumn& column : algorithm_columns()) {
      if (with_break_even || column.heading != kWins) {
        table.headings.emplace_back(column.heading);
      }
    }
  };
  flush();
  for (const io::Json& row : rows) {
    std::string place;
    for (const std::string& field : varied) {
      if (field != "algorithm") {
        const Shown how = shown(field);
        place +=
            (place.empty() ? "" : ", ") + how.heading + " = " + varied_cell(row, field, how.factor);
      }
    }
    if (place != block) {
      flush();
      block = place;
    }
    std::vector<std::string>& cells = table.rows.emplace_back();
    cells.push_back(text_of(row, "algorithm"));
    cells.push_back(milliseconds_cell(number_of(row, "iteration_time_s")));
    cells.push_back(cell(number_of(row, "ratio")));
    cells.push_back(milliseconds_cell(number_of(row, "exposed_communication_s")));
    cells.push_back(cell(times(number_of(row, "wire_bytes"), 1e-6)));
    cells.push_back(cell(number_of(row, "speedup_vs_dense_overlapped")));
    cells.push_back(cell(number_of(row, "staleness_mean")));
    if (with_break_even) {
      cells.push_back(wins_cell(row));
    }
    const std::string error = text_of(row, "error");
    cells.push_back(error != "-" ? "error: " + error : text_of(row, "assumes"));
  }
  flush();
  return out;
}

} // namespace stepsim::cli
