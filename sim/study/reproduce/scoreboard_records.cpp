// Every row is run four times: with the links of the rules, with links that are slower and faster
// by the factor of the interval, and under typical conditions, which have an interval of their own.
#include "study/reproduce/scoreboard_tables.hpp"

#include "base/shared_value.hpp"
#include "document/file.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "study/reproduce/series.hpp"

namespace stepsim::reproduce {

namespace {

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

PredictedRows predicted_rows(const Records& rows, const Scoreboard& rules, study::Files& files,
                             const std::string& folder) {
  PredictedRows out;
  std::map<std::string, std::string> models; // by the word of the rows
  std::optional<InputError> first;           // why the first of the others is not predicted
  const auto skip = [&](const io::Object& row, const InputError& error) {
    first = first ? first : error;
    out.not_predicted.push_back(row);
    out.not_predicted.back().emplace_back("not_predicted", error.problems().front().message);
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
