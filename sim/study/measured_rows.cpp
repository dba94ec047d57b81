#include "study/measured_rows.hpp"

#include <optional>
#include <utility>

#include "document/json_text.hpp"
#include "document/reader.hpp"
#include "scenario/short_forms.hpp"
#include "study/measured_steps_keys.hpp"

namespace stepsim::study {

namespace {

io::Json scenario_tree_of(const io::Json& value, const std::optional<std::string_view> schedule) {
  io::Json tree = value.is_string() ? read_named(path_of(value), value) : value;
  if (schedule) {
    io::assign(tree, "/communication/schedule", io::Json(*schedule));
  }
  return with_short_forms_expanded(std::move(tree));
}

} // namespace

MeasuredRows read_measured_rows(const io::Json& tree) {
  io::Problems problems;
  io::Fields fields(tree, problems, keys::kMeasuredSteps);
  fields.header("measured_steps");
  MeasuredRows all{.name = fields.string("name", ""), .source = fields.text("source"), .rows = {}};
  (void)fields.text("note");
  for (const io::Json& json : fields.list("rows", "row")) {
    io::Fields row(json, problems, keys::kMeasuredStepRow.front());
    const io::Json* value = row.any("scenario");
    const auto schedule = row.optional_word("schedule");
    const double step_s = row.number("step_s");
    (void)row.text("source");
    row.no_more();
    if (value == nullptr || !(value->is_string() || value->is_object())) {
      problems.add(json, "scenario", "required (a file of kind scenario, or the scenario itself)");
    }
    problems.throw_if_any();
    all.rows.push_back({scenario_tree_of(*value, schedule), step_s, &json});
  }
  fields.no_more();
  problems.throw_if_any();
  return all;
}

} // namespace stepsim::study
