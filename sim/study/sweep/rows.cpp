// The sweep writes its text into memory and the records are read from it again: a row is then
// exactly what the file of the same sweep would hold, nulls and texts included.
#include "study/sweep/rows.hpp"

#include "document/json_text.hpp"

namespace stepsim::study {

Rows rows_of(const Sweep& sweep, Files& files, const SweepOptions& options) {
  require_scenario(sweep);
  std::string text;
  const SweepReport report = run_sweep(sweep, files, options, text);
  Rows rows{records_of(text), {}, report.points, report.failed};
  for (const auto& [warning, points] : report.warnings) {
    rows.warnings.push_back(warning);
  }
  return rows;
}

io::Array records_of(std::string_view output) {
  io::Array records;
  output.remove_prefix(output.find('\n') + 1); // the header
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    records.push_back(io::parse_json(output.substr(0, end), ""));
    output.remove_prefix(end + 1);
  }
  return records;
}

// A sweep needs an axis; the name of the scenario can be one, as it changes no number.
io::Json row_of(const io::Json& scenario, Files& files, double max_seconds) {
  const io::Json* name = io::resolve(scenario, "/name");
  const Sweep sweep = sweep_over(scenario, {{"/name", {name == nullptr ? io::Json("") : *name}}});
  io::Json row = rows_of(sweep, files, {.max_seconds = max_seconds}).records.front();
  if (const std::string error = error_in(row); !error.empty()) {
    throw SimulationError(error);
  }
  return row;
}

io::Json without_place(const io::Json& record, const std::string& ratio_name) {
  io::Json row{io::Object{}};
  for (const auto& [key, value] : record.as_object()) {
    if (key != "record" && key != "point" && key != "status") {
      row.set(key == "ratio" ? ratio_name : key, value);
    }
  }
  return row;
}

std::optional<double> number_in(const io::Json& record, std::string_view key) {
  const io::Json* value = record.find(key);
  return value != nullptr && value->is_number() ? std::optional(value->as_double()) : std::nullopt;
}

std::optional<base::Band> band_in(const io::Json& record) {
  const auto low = number_in(record, "iteration_time_low_s");
  const auto high = number_in(record, "iteration_time_high_s");
  const auto level = number_in(record, "interval_level");
  return low && high && level ? std::optional(base::Band{*low, *high, *level}) : std::nullopt;
}

std::string error_in(const io::Json& record) { return record.text("error"); }

// Warnings are few, so that a linear search is enough and their order stays.
void append_each_once(std::vector<std::string>& to, std::span<const std::string> warnings) {
  for (const std::string& warning : warnings) {
    if (std::ranges::find(to, warning) == to.end()) {
      to.push_back(warning);
    }
  }
}

} // namespace stepsim::study
