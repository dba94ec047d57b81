// Every row is run three times: with the links of the rules, and with links that are slower and
// faster by the factor of the interval.
#include "study/reproduce/scoreboard_records.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "base/error.hpp"
#include "base/number_text.hpp"
#include "base/remembered.hpp"
#include "base/statistics.hpp"
#include "document/csv.hpp"
#include "document/file.hpp"
#include "document/file_write.hpp"
#include "document/json_parse.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "scenario/scenario.hpp"
#include "study/reproduce/series.hpp"

namespace stepsim::reproduce {

namespace {

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
  return study::run(study::parse_scenario(tree, files)).summary.iteration_time_s.value();
}

// The least value that at least `share` of ascending values do not exceed.
double at_share(const std::vector<double>& ascending, double share) {
  const auto count = static_cast<double>(ascending.size());
  const auto place = static_cast<std::size_t>(std::ceil(share * count - 1e-9));
  return ascending[std::min(ascending.size(), std::max<std::size_t>(place, 1)) - 1];
}

std::vector<double> ascending(const Records& rows, std::string_view name) {
  std::vector<double> values;
  for (const io::Object& row : rows) {
    values.push_back(row_number(row, name));
  }
  std::ranges::sort(values);
  return values;
}

io::Object group(const std::string& by, const std::string& name, const Records& rows) {
  const std::vector<double> sizes = ascending(rows, "size");
  const auto shorter = std::ranges::count_if(
      rows, [](const io::Object& row) { return row_number(row, "error") < 0; });
  return {{"by", by},
          {"name", name},
          {"rows", rows.size()},
          {"median", base::median(sizes)},
          {"p90", at_share(sizes, 0.9)},
          {"worst", sizes.back()},
          {"shorter", 100.0 * static_cast<double>(shorter) / static_cast<double>(rows.size())}};
}

// The row with its prediction; `model` makes its layer table.
template <class Model>
io::Object predicted_row(const io::Object& row, const Scoreboard& rules, study::Files& files,
                         const Model& model) {
  if (!(row_number(row, "base_measured") > 0)) {
    throw InputError(rules.rows, row_text(row, "row"), "no base measurement");
  }
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
  record.emplace_back("alone", 100 * std::abs(computing_s(row) / measured_s - 1));
  record.emplace_back("publisher", named(rules.publishers, row_text(row, "family")));
  // The column `family` is that of the publisher's machines.
  record.emplace_back("model_family", named(rules.families, row_text(row, "model")));
  return record;
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

PredictedRows predicted_rows(const Records& rows, const Scoreboard& rules, study::Files& files,
                             const std::string& folder) {
  PredictedRows out;
  std::map<std::string, std::string> models; // by the word of the rows
  std::optional<InputError> first;           // why the first of the others is not predicted
  const auto skip = [&](const io::Object& row, const InputError& error) {
    first = first ? first : error;
    out.not_predicted.push_back(
        {{"row", row_text(row, "row")}, {"reason", error.problems().front().message}});
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

AllRecords scoreboard_tables(const std::string& id, const PredictedRows& all) {
  const Records& predicted = all.rows;
  AllRecords out;
  Records& reasons = out[id + "_reasons"];
  std::map<std::string, std::int64_t> counts;
  for (const io::Object& row : all.not_predicted) {
    ++counts[row_text(row, "reason")];
  }
  for (const auto& [reason, rows] : counts) {
    reasons.push_back({{"reason", reason}, {"rows", rows}});
  }
  const std::vector<double> sizes = ascending(predicted, "size");
  const std::vector<double> alone = ascending(predicted, "alone");
  Records& sorted = out[id + "_sorted"];
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    sorted.push_back(
        {{"share", 100 * static_cast<double>(i + 1) / static_cast<double>(sizes.size())},
         {"size", sizes[i]},
         {"alone", alone[i]}});
  }
  Records& groups = out[id + "_groups"];
  groups.push_back(group("all", "all rows", predicted));
  groups.back().emplace_back("not_predicted", all.not_predicted.size());
  for (const char* by : {"publisher", "model_family", "fabric", "inputs"}) {
    std::vector<std::string> names; // in the order of the table
    std::map<std::string, Records> members;
    for (const io::Object& row : predicted) {
      Records& found = members[row_text(row, by)];
      if (found.empty()) {
        names.push_back(row_text(row, by));
      }
      found.push_back(row);
    }
    for (const std::string& name : names) {
      groups.push_back(group(by, name, members[name]));
    }
  }
  out[id + "_pairs"] = pairs_of(predicted);
  const std::vector<double> measured = ascending(predicted, "measured");
  out[id + "_ends"] = {{{"measured", measured.front()}}, {{"measured", measured.back()}}};
  return out;
}

std::string scoreboard_csv(const Records& predicted) {
  constexpr std::array kColumns{"row",           "source",         "unit",  "measured", "predicted",
                                "predicted_low", "predicted_high", "error", "inputs"};
  std::string out;
  for (const char* name : kColumns) {
    out.append(out.empty() ? "" : ",").append(name);
  }
  out += "\n";
  for (const io::Object& row : predicted) {
    std::string line;
    for (const char* name : kColumns) {
      const io::Json* value = column(row, name);
      line.append(line.empty() ? "" : ",");
      io::append_csv_cell(line, value->is_number() ? base::significant(value->as_double(), 6)
                                                   : row_text(row, name));
    }
    out += line + "\n";
  }
  return out;
}

} // namespace stepsim::reproduce
