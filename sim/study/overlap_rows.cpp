#include "study/fits.hpp"

#include "document/json_text.hpp"
#include "run/planned_messages.hpp"
#include "scenario/short_forms.hpp"
#include "study/measured_steps_keys.hpp"

namespace stepsim::study {

namespace {

// What of a scenario the model of the fit leaves out, in words; empty if nothing.
std::string not_described(const Scenario& scenario, const buckets::Plan& plan) {
  const Communication& communication = scenario.communication;
  const Training& training = scenario.training;
  const buckets::LinearCost extra = extra_cost(scenario);
  if (training.algorithm != TrainingAlgorithm::sync_sgd) {
    return "the algorithm " + std::string(kTrainingAlgorithms[training.algorithm]);
  }
  const buckets::Planner& planner = buckets::planner(communication.schedule);
  if (!planner.one_channel(communication.schedule_options)) {
    return planner.one_channel({}) ? "several messages at once"
                                   : "schedule " + std::string(planner.name);
  }
  if (is_compressed(scenario)) {
    return "compressed gradients";
  }
  if (communication.reduce_broadcast) {
    return "reduce_broadcast";
  }
  if (simulates_messages(scenario)) {
    return "messages that go through a simulated network one by one";
  }
  if (communication.copy_bandwidth_Bps > 0 || extra.startup_s > 0 || extra.per_byte_s > 0) {
    return "copies and synchronisation beside exchanges";
  }
  if (scenario.variability.varies()) {
    return "workers that differ";
  }
  if (training.input.value > 0) {
    return "reading of input";
  }
  if (!exchanges(scenario)) {
    return "one worker";
  }
  std::vector<std::uint32_t> last;
  if (!plan.groups.empty()) {
    last = waiting_layers(scenario, plan.groups.back());
  }
  return communication.next_forward == programs::NextForward::barrier ||
                 std::ranges::find(last, 0U) != last.end()
             ? ""
             : "a forward that does not wait for the last message";
}

MeasuredStep step_of(const Scenario& scenario, const buckets::Problem& problem,
                     const io::Json& place) {
  const buckets::Plan plan = plan_of(scenario, problem);
  if (const std::string what = not_described(scenario, plan); !what.empty()) {
    throw InputError(std::string(place.file()), place.pointer(),
                     "fit-overlap does not describe " + what +
                         ": it takes dense sync_sgd with one message after the other");
  }
  MeasuredStep step{.schedule = std::string(buckets::planner(scenario.communication.schedule).name),
                    .forward_s = scenario.workload.forward().value,
                    .backward_s = scenario.workload.backward().value,
                    .update_s = scenario.training.update.value};
  for (const buckets::Group& group : plan.groups) {
    step.messages.push_back(
        {.ready_s = group.ready.value, .bytes = static_cast<double>(group.bytes.value)});
  }
  return step;
}

} // namespace

MeasuredSteps read_measured_steps(const io::Json& tree, Files& files,
                                  const std::string& leave_out) {
  MeasuredRows measured = read_measured_rows(tree);
  MeasuredSteps all{.name = std::move(measured.name), .source = std::move(measured.source)};
  for (const MeasuredRow& row : measured.rows) {
    const io::Json& json = *row.place;
    const io::Json& scenario_tree = row.scenario;
    // A base scenario may hold options of other schedules than that of the row.
    const Scenario scenario = parse_scenario(scenario_tree, files, Leftovers::ignore);
    const buckets::Problem problem = merge_problem(scenario);
    const auto* cost = std::get_if<buckets::LinearCost>(&problem.cost.base);
    if (cost == nullptr) {
      throw InputError(std::string(json.file()), json.pointer() + "/scenario",
                       "fit-overlap starts from a network whose exchanges cost startup_s and "
                       "per_byte_s");
    }
    MeasuredStep step = step_of(scenario, problem, *json.find("scenario"));
    step.step_s = row.step_s;
    if (!leave_out.empty()) {
      const io::Json* fold = io::resolve(scenario_tree, leave_out);
      if (fold == nullptr) {
        throw InputError(std::string(json.file()), json.pointer() + "/scenario",
                         "has no " + leave_out + ", which --leave-out names");
      }
      step.fold = fold->is_string() ? fold->as_string() : io::compact(*fold);
    }
    if (all.steps.empty()) {
      all.startup_s = cost->startup_s;
      all.per_byte_s = cost->per_byte_s;
    } else if (cost->startup_s != all.startup_s || cost->per_byte_s != all.per_byte_s) {
      throw InputError(std::string(json.file()), json.pointer() + "/scenario",
                       "the network differs from that of the first row; fit each network from a "
                       "file of its own");
    }
    all.steps.push_back(std::move(step));
  }
  return all;
}

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
