// Every figure of a group is one of the errors of its rows, sorted.
#include "study/reproduce/scoreboard_tables.hpp"

#include <cmath>

#include "base/collected.hpp"
#include "document/csv.hpp"
#include "study/reproduce/series.hpp"

namespace stepsim::reproduce {

namespace {

// The least value that at least `share` of ascending values do not exceed.
double at_share(const std::vector<double>& ascending, double share) {
  const auto count = static_cast<double>(ascending.size());
  const auto place = static_cast<std::size_t>(std::ceil(share * count - 1e-9));
  return ascending[std::min(ascending.size(), std::max<std::size_t>(place, 1)) - 1];
}

std::vector<double> ascending(const Records& rows, std::string_view name) {
  auto values =
      base::collected<double>(rows, [&](const io::Object& row) { return row_number(row, name); });
  std::ranges::sort(values);
  return values;
}

// The absolute values, ascending.
std::vector<double> sizes_of(std::vector<double> errors) {
  std::ranges::transform(errors, errors.begin(), [](double each) { return std::abs(each); });
  std::ranges::sort(errors);
  return errors;
}

double percent_of(std::size_t part, std::size_t whole) {
  return 100 * static_cast<double>(part) / static_cast<double>(whole);
}

// The errors of the steps of some rows, in %; `error` is the name of their column.
void add_errors(io::Object& record, const Records& rows, std::string_view error) {
  const std::vector<double> errors = ascending(rows, error);
  const std::vector<double> sizes = sizes_of(errors);
  const auto shorter = std::ranges::lower_bound(errors, 0.0) - errors.begin();
  record.emplace_back("rows", rows.size());
  record.emplace_back("median", base::median(sizes));
  record.emplace_back("p90", at_share(sizes, 0.9));
  record.emplace_back("worst", sizes.back());
  record.emplace_back("shorter", percent_of(static_cast<std::size_t>(shorter), rows.size()));
}

// Predictions of the rows: their columns with errors of steps, and with speeds and their interval.
struct Way {
  std::string_view name, error, speed, low, high; // `speed` empty: no interval
};
constexpr std::array kWays{
    Way{"communication ignored", "alone_error", "", "", ""},
    Way{"ideal", "error", "predicted", "predicted_low", "predicted_high"},
    Way{"typical", "typical_error", "typical", "typical_low", "typical_high"}};

Records predicted_by(const Way& way, const Records& rows) {
  Records out;
  std::ranges::copy_if(rows, std::back_inserter(out),
                       [&](const io::Object& row) { return column(row, way.error) != nullptr; });
  return out;
}

void add_interval(io::Object& record, const Records& rows, const Way& way) {
  std::size_t inside = 0;
  std::vector<double> widths;
  for (const io::Object& row : rows) {
    const double low = row_number(row, way.low);
    const double high = row_number(row, way.high);
    const double measured = row_number(row, "measured");
    inside += low <= measured && measured <= high ? 1 : 0;
    const double speed = row_number(row, way.speed);
    widths.push_back(100 * (speed / low - speed / high));
  }
  record.emplace_back("coverage", percent_of(inside, rows.size()));
  record.emplace_back("width", base::median(widths));
}

// Rows by the text in a column, in the order of the rows.
std::vector<std::pair<std::string, Records>> grouped(const Records& rows, std::string_view by) {
  std::vector<std::pair<std::string, Records>> groups;
  for (const io::Object& row : rows) {
    const std::string name = row_text(row, by);
    auto found = std::ranges::find(groups, name, &std::pair<std::string, Records>::first);
    if (found == groups.end()) {
      found = groups.insert(groups.end(), {name, {}});
    }
    found->second.push_back(row);
  }
  return groups;
}

io::Object group(const std::string& by, const std::string& name, const Records& rows) {
  io::Object record{{"by", by}, {"name", name}};
  add_errors(record, rows, "error");
  return record;
}

// Each way to predict the rows of a situation that it can predict.
void add_ways(Records& out, const std::string& by, const std::string& name, const Records& rows) {
  for (const Way& way : kWays) {
    const Records predicted = predicted_by(way, rows);
    if (predicted.empty()) {
      continue;
    }
    io::Object& record = out.emplace_back(
        io::Object{{"by", by}, {"name", name}, {"conditions", std::string(way.name)}});
    add_errors(record, predicted, way.error);
    if (!way.speed.empty()) {
      add_interval(record, predicted, way);
    }
  }
}

// By what two runs that are alternatives of each other do not differ.
std::string same_work(const io::Object& row) {
  std::string key;
  for (const char* name : {"source", "model", "gpu", "nodes", "gpus_per_node", "batch_per_gpu",
                           "seq_len", "grad_accum", "precision", "unit"}) {
    key += row_text(row, name) + "\n";
  }
  return key;
}

// Alternatives whose measured speeds differ by at least `low` and less than `high` (shares).
struct Class {
  std::string_view name;
  double low{}, high{};
};
constexpr std::array kClasses{Class{"below 5 %", 0, 0.05}, Class{"5 to 20 %", 0.05, 0.2},
                              Class{"20 to 50 %", 0.2, 0.5}, Class{"above 50 %", 0.5, INFINITY},
                              Class{"all", 0, INFINITY}};

Records pairs_of(const Records& rows) {
  std::array<double, kClasses.size()> pairs{};
  std::array<double, kClasses.size()> right{};
  std::vector<std::string> work;
  std::vector<std::string> way;
  for (const io::Object& row : rows) {
    work.push_back(same_work(row));
    way.push_back(row_text(row, "method") + "\n" + row_text(row, "fabric") + "\n" +
                  row_text(row, "gbps_per_node"));
  }
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      if (work[a] != work[b] || way[a] == way[b]) {
        continue;
      }
      const double measured = row_number(rows[a], "measured") / row_number(rows[b], "measured");
      const double predicted = row_number(rows[a], "predicted") / row_number(rows[b], "predicted");
      if (measured == 1) { // neither is the faster one
        continue;
      }
      const double apart = std::max(measured, 1 / measured) - 1;
      for (std::size_t i = 0; i < kClasses.size(); ++i) {
        if (apart >= kClasses[i].low && apart < kClasses[i].high) {
          pairs[i] += 1;
          constexpr double kRounding = 1e-12; // equal predictions
          const bool slower = predicted > 1 + kRounding;
          const bool faster = predicted < 1 - kRounding;
          right[i] += (measured > 1 && slower) || (measured < 1 && faster) ? 1 : 0;
        }
      }
    }
  }
  Records out;
  for (std::size_t i = 0; i < kClasses.size(); ++i) {
    if (pairs[i] > 0) {
      out.push_back({{"difference", std::string(kClasses[i].name)},
                     {"pairs", pairs[i]},
                     {"right", 100 * right[i] / pairs[i]}});
    }
  }
  return out;
}

} // namespace

AllRecords scoreboard_tables(const std::string& id, const PredictedRows& all) {
  const Records& predicted = all.rows;
  AllRecords out;
  Records& reasons = out[id + "_reasons"];
  for (const auto& [conditions, rows] :
       {std::pair("all", &all.not_predicted), std::pair("typical", &predicted)}) {
    std::map<std::string, std::int64_t> counts;
    for (const io::Object& row : *rows) {
      if (column(row, "not_predicted") != nullptr) {
        ++counts[row_text(row, "not_predicted")];
      }
    }
    for (const auto& [reason, number] : counts) {
      reasons.push_back({{"reason", reason}, {"rows", number}, {"conditions", conditions}});
    }
  }
  for (const Way& way : kWays) {
    if (const Records rows = predicted_by(way, predicted); !rows.empty()) {
      const std::vector<double> sizes = sizes_of(ascending(rows, way.error));
      for (int share = 1; share <= 100; ++share) {
        out[id + "_sorted"].push_back({{"conditions", std::string(way.name)},
                                       {"share", share},
                                       {"size", at_share(sizes, share / 100.0)}});
      }
    }
  }
  Records& groups = out[id + "_groups"];
  groups.push_back(group("all", "all rows", predicted));
  groups.back().emplace_back("not_predicted", all.not_predicted.size());
  for (const char* by : {"publisher", "model_family", "fabric", "inputs"}) {
    for (const auto& [name, rows] : grouped(predicted, by)) {
      groups.push_back(group(by, name, rows));
    }
  }
  Records& conditions = out[id + "_conditions"];
  add_ways(conditions, "all", "all rows", predicted);
  for (const char* by : {"situation", "communication"}) {
    for (const auto& [name, rows] : grouped(predicted, by)) {
      add_ways(conditions, by, name, rows);
    }
  }
  out[id + "_not_predicted"] = all.not_predicted;
  out[id + "_pairs"] = pairs_of(predicted);
  const std::vector<double> measured = ascending(predicted, "measured");
  out[id + "_ends"] = {{{"measured", measured.front()}}, {{"measured", measured.back()}}};
  return out;
}

std::string scoreboard_csv(const Records& predicted, const Records& not_predicted) {
  constexpr std::array<std::string_view, 17> kColumns{
      "row",          "source",        "unit",           "measured",
      "predicted",    "predicted_low", "predicted_high", "error",
      "inputs",       "label",         "transport",      "reduced_precision",
      "typical",      "typical_low",   "typical_high",   "typical_error",
      "not_predicted"};
  constexpr std::array<std::string_view, 7> kTexts{
      "row", "source", "unit", "inputs", "transport", "reduced_precision", "label"};
  std::string out = base::listed(kColumns, {}, ",") + "\n";
  for (const Records& rows : {predicted, not_predicted}) {
    for (const io::Object& row : rows) {
      const auto cell = [&](std::string_view name) {
        const io::Json* value = column(row, name);
        const bool is_figure = value != nullptr && value->is_number() &&
                               std::ranges::find(kTexts, name) == kTexts.end();
        std::string text;
        io::append_csv_cell(text, is_figure ? base::significant(value->as_double(), 6)
                                            : row_text(row, name));
        return text;
      };
      out += base::listed(kColumns, cell, ",") + "\n";
    }
  }
  return out;
}

} // namespace stepsim::reproduce
