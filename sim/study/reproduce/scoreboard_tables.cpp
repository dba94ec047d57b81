// Every figure of a group is one of the errors of its rows, sorted.

#include "study/reproduce/scoreboard_tables.hpp"

#include "base/shared_value.hpp"
#include "document/csv.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"

#include <cmath>

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

// Every row is run four times: with the links of the rules, with links that are slower and faster
// by the factor of the interval, and under typical conditions, which have an interval of their own.

// Percent of the measured step by which computing alone is shorter, from which on communication
// counts as much.
constexpr double kMuchCommunication = 15;

std::string named(const Names& names, const std::string& text) {
  const auto found =
      std::ranges::find_if(names, [&](const auto& each) { return text.starts_with(each.first); });
  return found == names.end() ? text : found->second;
}

// What a scenario calls the layer table: a shipped name, or the path of a scaled one.
std::string model_of(const io::Object& row, const Scoreboard& rules, study::Files& files,
                     const std::string& folder) {
  constexpr std::string_view kMade = "inline:";
  const std::string table = row_text(row, "table");
  if (!table.starts_with(kMade)) {
    return table;
  }
  std::string name = table.substr(kMade.size());
  const TableRule rule = table_rule(row, rules, name);
  std::ranges::replace_if(
      name, [](char c) { return c == ':' || c == '/' || c == '.'; }, '_'); // it names a file
  const std::string shipped = files.data_folder() + "/models/" + rule.model + ".json";
  const std::string path = folder + "/" + name + ".model.json";
  io::write_file(path, io::pretty(scaled_table(io::read_json(shipped), name, rule.elements)));
  return path;
}

double step_s(const io::Json& tree, study::Files& files) {
  return study::step_of(study::run(study::parse_scenario(tree, files)).summary);
}

// Adds the prediction under typical conditions, or the reason why there is none.
void add_typical(io::Object& record, const Scoreboard& rules, const std::string& model,
                 study::Files& files) {
  try {
    const io::Json scenario = typical_scenario_of(record, rules, model);
    const study::Summary summary =
        study::run(study::parse_scenario(scenario, files), study::Detail::summary).summary;
    const double samples = samples_of(record);
    const double step = study::step_of(summary);
    record.emplace_back("typical_scenario", scenario);
    record.emplace_back("typical_step_s", step);
    record.emplace_back("typical", samples / step);
    record.emplace_back("typical_low", samples / summary.iteration_time_high_s.value());
    record.emplace_back("typical_high", samples / summary.iteration_time_low_s.value());
    record.emplace_back("typical_error", 100 * (step / measured_step_s(record) - 1));
  } catch (const InputError& error) {
    record.emplace_back("not_predicted", error.problems().front().message);
  } catch (const SimulationError& error) {
    record.emplace_back("not_predicted", error.what());
  }
}

// The row with its predictions; `model` makes its layer table.
template <class Model>
io::Object predicted_row(const io::Object& row, const Scoreboard& rules, study::Files& files,
                         const Model& model) {
  require_predictable(row, rules);
  const auto scenario = [&](double slower) { return scenario_of(row, rules, model(), slower); };
  const io::Json nominal = scenario(1);
  const double predicted_s = step_s(nominal, files);
  const double measured_s = measured_step_s(row);
  const double samples = samples_of(row);
  io::Object record = row;
  record.emplace_back("scenario", nominal);
  record.emplace_back("measured_step_s", measured_s);
  record.emplace_back("predicted_step_s", predicted_s);
  record.emplace_back("predicted", samples / predicted_s);
  record.emplace_back("predicted_low", samples / step_s(scenario(rules.interval), files));
  record.emplace_back("predicted_high", samples / step_s(scenario(1 / rules.interval), files));
  record.emplace_back("error", 100 * (predicted_s / measured_s - 1));
  record.emplace_back("size", 100 * std::abs(predicted_s / measured_s - 1));
  const double alone = 100 * (computing_s(row) / measured_s - 1);
  record.emplace_back("alone_error", alone);
  record.emplace_back("communication", alone < -kMuchCommunication
                                           ? "communication above 15 % of the step"
                                           : "communication up to 15 % of the step");
  record.emplace_back("situation", situation_of(row, rules));
  record.emplace_back("publisher", named(rules.publishers, row_text(row, "family")));
  // The column `family` is that of the publisher's machines.
  record.emplace_back("model_family", named(rules.families, row_text(row, "model")));
  add_typical(record, rules, model(), files);
  return record;
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

PredictedRows predicted_rows(const Records& rows, const Scoreboard& rules, study::Files& files,
                             const std::string& folder) {
  PredictedRows out;
  std::map<std::string, std::string> models; // by the word of the rows
  std::optional<InputError> first;           // why the first of the others is not predicted
  const auto skip = [&](const io::Object& row, const InputError& error) {
    first = first ? first : error;
    const base::Problem& why = error.problems().front();
    const bool other_file = why.where.empty() && !why.file.empty() && why.file != rules.rows;
    out.not_predicted.push_back(row);
    out.not_predicted.back().emplace_back("not_predicted",
                                          (other_file ? why.file + ": " : "") + why.message);
  };
  for (const io::Object& row : rows) {
    try {
      out.rows.push_back(predicted_row(row, rules, files, [&] {
        return base::remembered(models, row_text(row, "table"),
                                [&] { return model_of(row, rules, files, folder); });
      }));
    } catch (const InputError& error) {
      skip(row, error);
    } catch (const SimulationError& error) {
      skip(row, {rules.rows, row_text(row, "row"), error.what()});
    }
  }
  if (out.rows.empty()) {
    throw first.value_or(InputError(rules.rows, "", "no rows"));
  }
  return out;
}

} // namespace stepsim::reproduce
