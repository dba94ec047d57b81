#include "study/fits.hpp"

#include "base/nelder_mead.hpp"
#include "document/json_text.hpp"
#include "programs/builders/step_programs.hpp"
#include "programs/event_pass.hpp"
#include "run/planned_messages.hpp"
#include "study/measured_steps_keys.hpp"

namespace stepsim::study {

namespace {

using io::OverlapConstants;
constexpr std::int64_t kIterations = 160;
constexpr double kFirstStep = 1.25; // of the simplex, along each constant

// The program of a measured step, with a layer for what is computed between two messages.
class StepProgram {
public:
  explicit StepProgram(const MeasuredStep& step) : step_(&step) {
    std::vector<programs::LayerTimes> layers(step.messages.size() + 1);
    std::vector<programs::BucketTimes> buckets;
    double computed = 0;
    for (const MeasuredMessage& message : step.messages) {
      const std::size_t layer = step.messages.size() - buckets.size();
      layers[layer].backward = {message.ready_s - computed};
      computed = message.ready_s;
      buckets.push_back({.layers = {static_cast<std::uint32_t>(layer)}});
    }
    layers.front().forward = {step.forward_s};
    layers.front().backward = {std::max(0.0, step.backward_s - computed)};
    program_ = programs::sync_sgd_program(
        layers, buckets,
        {.update = {step.update_s}, .next_forward = programs::NextForward::barrier});
    layout_ = programs::layout_of(program_);
  }

  [[nodiscard]] const MeasuredStep& measured() const { return *step_; }
  [[nodiscard]] double period_s(const OverlapConstants& constants) {
    for (programs::Operation& each : program_.operations) {
      if (each.type == programs::OperationType::exchange) {
        const double bytes = step_->messages[static_cast<std::size_t>(each.unit)].bytes;
        each.data = {constants.startup_s + constants.per_byte_s * bytes};
      }
    }
    programs::Interference slowdown;
    slowdown.compute.fill(constants.compute);
    return *programs::period_from_idle(program_, layout_, slowdown);
  }

private:
  const MeasuredStep* step_;
  programs::Program program_;
  programs::OperationLayout layout_;
};
using Steps = std::vector<StepProgram*>;

double loss(const Steps& steps, const OverlapConstants& constants) {
  constexpr double kMost = 0.5; // errors beyond it count alike, so that one odd row decides little
  double sum = 0;
  for (StepProgram* step : steps) {
    const double error = std::abs(std::log(step->period_s(constants) / step->measured().step_s));
    sum += std::pow(std::min(error, kMost), 1.5);
  }
  return sum;
}

// One message after backward overlaps nothing: what computing and start-up leave is its data.
OverlapConstants fit_single(const MeasuredSteps& measured, const MeasuredStep& step) {
  const double left = step.step_s - step.forward_s - step.backward_s - step.update_s;
  const double bytes = step.messages.front().bytes;
  if (!(left > measured.startup_s) || !(bytes > 0)) {
    throw UsageError("the step leaves no time for its message after computing and start-up");
  }
  return {.startup_s = measured.startup_s, .per_byte_s = (left - measured.startup_s) / bytes};
}

OverlapConstants fit(const MeasuredSteps& measured, const Steps& steps, const KeptConstants& kept) {
  if (steps.size() == 1 && steps.front()->measured().messages.size() == 1 && !kept.per_byte) {
    return fit_single(measured, steps.front()->measured());
  }
  if (steps.size() < kept.free()) {
    throw UsageError(fmt::format("needs at least {} measured steps for {} constants, got {}",
                                 kept.free(), kept.free(), steps.size()));
  }
  const auto constants_at = [&](const std::vector<double>& x) {
    OverlapConstants constants{.startup_s = measured.startup_s, .per_byte_s = measured.per_byte_s};
    std::size_t next = 0;
    constants.startup_s = kept.startup ? measured.startup_s : std::abs(x[next++]);
    constants.per_byte_s = kept.per_byte ? measured.per_byte_s : std::abs(x[next++]);
    constants.compute = kept.compute ? 1 : 1 + std::abs(x[next++]);
    return constants;
  };
  std::vector<double> start;
  for (const auto& [is_kept, first] :
       {std::pair(kept.startup, measured.startup_s),
        std::pair(kept.per_byte, 2 * measured.per_byte_s), std::pair(kept.compute, 0.5)}) {
    if (!is_kept) {
      start.push_back(first);
    }
  }
  if (start.empty()) {
    return constants_at(start);
  }
  return constants_at(
      base::nelder_mead([&](const std::vector<double>& x) { return loss(steps, constants_at(x)); },
                        start, kFirstStep, kIterations)
          .at);
}

io::OverlapQuality quality_of(const std::vector<double>& errors) {
  return {.rows = static_cast<std::int64_t>(errors.size()),
          .median_error = base::median(errors),
          .max_error = *std::ranges::max_element(errors)};
}

double error_of(const MeasuredStep& step, double predicted) {
  return std::abs(predicted / step.step_s - 1);
}

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

io::Json scenario_tree_of(const io::Json& value, const std::optional<std::string_view> schedule) {
  io::Json tree = value.is_string() ? read_named(path_of(value), value) : value;
  if (schedule) {
    io::assign(tree, "/communication/schedule", io::Json(*schedule));
  }
  return with_short_forms_expanded(std::move(tree));
}

} // namespace

double predicted_s(const MeasuredStep& step, const OverlapConstants& constants) {
  return StepProgram(step).period_s(constants);
}

io::OverlapFit fit_overlap(const MeasuredSteps& measured, const std::string& leave_out,
                           const KeptConstants& kept) {
  io::OverlapFit result{.name = measured.name, .source = measured.source, .leave_out = leave_out};
  std::vector<StepProgram> made(measured.steps.begin(), measured.steps.end());
  Steps all;
  std::set<std::string> folds;
  for (StepProgram& step : made) {
    all.push_back(&step);
    folds.insert(step.measured().fold);
  }
  result.constants = fit(measured, all, kept);
  std::vector<double> errors;
  for (StepProgram& each : made) {
    const MeasuredStep& step = each.measured();
    const double predicted = each.period_s(result.constants);
    errors.push_back(error_of(step, predicted));
    result.steps.push_back({.schedule = step.schedule,
                            .left_out = step.fold,
                            .step_s = step.step_s,
                            .predicted_s = predicted});
  }
  result.quality = quality_of(errors);
  if (leave_out.empty()) {
    return result;
  }
  if (folds.size() < 2) {
    throw UsageError("--leave-out " + leave_out + ": all rows have the same value, " +
                     *folds.begin());
  }
  for (const std::string& fold : folds) {
    Steps others;
    std::ranges::copy_if(all, std::back_inserter(others),
                         [&](const StepProgram* step) { return step->measured().fold != fold; });
    const OverlapConstants constants = fit(measured, others, kept);
    std::vector<double> left_out;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]->measured().fold == fold) {
        const double predicted = all[i]->period_s(constants);
        result.steps[i].held_out_s = predicted;
        left_out.push_back(error_of(all[i]->measured(), predicted));
      }
    }
    result.folds.push_back(
        {.left_out = fold, .constants = constants, .quality = quality_of(left_out)});
  }
  return result;
}

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

MeasuredRows read_measured_rows(const io::Json& tree) {
  io::Problems problems;
  io::Fields fields(tree, problems, keys::kMeasuredSteps);
  fields.header("measured_steps");
  MeasuredRows all{.name = fields.string("name", ""), .source = fields.text("source")};
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
