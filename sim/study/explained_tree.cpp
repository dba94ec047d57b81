// One table of rows per object. Lists that have nothing to say are empty, and objects that do not
// exist are null.

#include "study/explained.hpp"

#include "scenario/scenario_conditions.hpp"
#include "study/fits.hpp"
#include "study/step_changes.hpp"
#include "study/what_if_rows.hpp"

namespace stepsim::study {

namespace {

using namespace io::rows;
using io::Json;
using io::Written;
using programs::BindingPath;
using programs::Explanation;

// A step of the path with the program that it belongs to.
struct Step {
  const Explained& explained;
  const programs::PathStep& step;
  [[nodiscard]] const programs::Operation& operation() const {
    return explained.program.operations[step.operation];
  }
};

Json label(std::int32_t value) { return value < 0 ? Json() : Json(std::int64_t{value}); }

constexpr auto kStep = std::to_array<Written<Step>>({
    io::row("operation", "Id of the operation.", [](const Step& s) { return s.operation().id; }),
    {word("kind", programs::kKinds, "What the operation is for.").required(),
     [](const Step& s) { return Json(programs::kKinds[s.operation().kind]); }},
    {integer("unit", "Bucket or sharding unit; null if it has none.").nullable().required(),
     [](const Step& s) { return label(s.operation().unit); }},
    io::row("iteration", "Iterations after that of the first operation.",
            [](const Step& s) { return s.step.iteration; }),
    io::row("visits", "How often the operation is on the path.",
            [](const Step& s) { return s.step.visits; })
        .in(io::at_least(1)),
    io::row("seconds", "Seconds on the path, of all visits.",
            [](const Step& s) { return s.step.seconds(); }),
    io::row(
        "share_s", "Seconds per iteration of the program; all of them are the period.",
        [](const Step& s) { return s.step.seconds() / s.explained.explanation.path.iterations; }),
});
constexpr std::array kStepObject{object("critical_cycle", io::kKeysOf<kStep>, "An operation.")};

// A step of the path in time: each begins when the one before it ends.
struct TimedStep {
  const programs::Operation& operation;
  double start_s{};
  double end_s{};
};

constexpr auto kTimedStep = std::to_array<Written<TimedStep>>({
    {word("phase", programs::kKinds, "What the operation is for.").required(),
     [](const TimedStep& s) { return Json(programs::kKinds[s.operation.kind]); }},
    {integer("layer", "Layer, from 0 in forward order; null if it has none or several.")
         .nullable()
         .required(),
     [](const TimedStep& s) {
       return label(s.operation.first_layer == s.operation.last_layer ? s.operation.first_layer
                                                                      : -1);
     }},
    {integer("bucket", "Bucket or sharding unit; null if it has none.").nullable().required(),
     [](const TimedStep& s) { return label(s.operation.unit); }},
    io::row<&TimedStep::start_s>("Start, s; the path begins at 0."),
    io::row<&TimedStep::end_s>("End, s."),
});
constexpr std::array kTimedStepObject{
    object("critical_path", io::kKeysOf<kTimedStep>, "An operation.")};

// The operations of a recorded path are in no order of time.
Json path_tree(const Explained& explained) {
  io::Array all;
  double start = 0;
  if (explained.explanation.path.exact) {
    for (const programs::PathStep& step : explained.explanation.path.steps) {
      const double end = start + step.seconds();
      all.push_back(io::write(kTimedStep,
                              TimedStep{explained.program.operations[step.operation], start, end}));
      start = end;
    }
  }
  return all;
}

constexpr auto kShare = std::to_array<Written<programs::Share>>({
    io::row<&programs::Share::name>("What the seconds belong to."),
    io::row<&programs::Share::seconds>("Seconds per iteration of the program."),
});
using programs::Attribution;
template <auto Member> constexpr Written<Attribution> shares(std::string_view sentence) {
  return io::list_row<Member, kShare, "A share of the period.">(sentence);
}

constexpr auto kAttribution = std::to_array<Written<Attribution>>({
    shares<&Attribution::by_kind>("By the kind of operation."),
    shares<&Attribution::by_unit>("By bucket or sharding unit."),
    shares<&Attribution::by_layer>("By layer."),
    shares<&Attribution::by_link>("By part of exchanges: start-up and bandwidth."),
});

using programs::Sensitivity;
constexpr auto kSensitivity = std::to_array<Written<Sensitivity>>({
    io::row<&Sensitivity::parameter>("latency_s, seconds_per_byte, a factor on start-ups, data or "
                                     "computing, or seconds of an operation."),
    io::row<&Sensitivity::left>("Change of the period per unit, where the parameter falls."),
    io::row<&Sensitivity::right>("Change of the period per unit, where the parameter rises."),
    io::row<&Sensitivity::exact>(
        "By critical cycles; otherwise numeric, by a relative step of 1e-6."),
});
constexpr auto kCause = std::to_array<Written<Cause>>({
    io::row<&Cause::cause>("What may make steps longer; unexplained: what all others leave."),
    set_row<Cause>("Flags --set of a run with the cause."),
    io::row("iteration_time_s", "Time of a step with this cause alone, s.",
            [](const Cause& each) {
              return each.set.empty() ? std::nullopt : std::optional(each.step_s);
            }),
    io::row<&Cause::explains_s>("seconds", "Seconds of the gap that the cause alone explains."),
});
constexpr std::array kCauseObject{object("gap", io::kKeysOf<kCause>, "A cause, run alone.")};

Json gap_tree(const std::optional<Measured>& measured) {
  if (!measured) {
    return io::Array();
  }
  std::vector<Cause> all = measured->causes;
  all.push_back({.cause = "unexplained", .explains_s = measured->unexplained_s});
  return io::write_all(kCause, all);
}

constexpr auto kSummary = std::to_array<Written<Explained>>({
    io::row<&Explained::explanation, &Explanation::path, &BindingPath::period_s>(
        "Time of an iteration of the program, s."),
    io::row<&Explained::program, &programs::Program::steps>("Optimizer steps of an iteration.")
        .in(io::at_least(1)),
    io::row("exposed_communication_s",
            "Period minus that with exchanges that take no time, per step, s.",
            [](const Explained& each) { return each.explanation.exposed_s / each.program.steps; }),
    io::row("utilization", "Period with exchanges that take no time / period; null if it is 0.",
            [](const Explained& each) {
              const double period = each.explanation.path.period_s;
              return period > 0 ? std::optional((period - each.explanation.exposed_s) / period)
                                : std::nullopt;
            }),
    io::row(
        "interference_s", "Period minus that without interference, per step, s.",
        [](const Explained& each) { return each.explanation.interference_s / each.program.steps; }),
    io::row<&Explained::iterations>("Iterations of the run.").in(io::at_least(1)),
    io::row<&Explained::makespan_s>("Time of all iterations with what follows the last one, s."),
});

constexpr auto kSize = std::to_array<Written<Explained>>({
    io::row("operations", "Operations of one iteration.",
            [](const Explained& each) { return each.program.iteration_size(); }),
    io::row("streams", "Streams of a rank.",
            [](const Explained& each) { return each.program.streams.size(); }),
    io::row("waits", "Waits of one iteration.",
            [](const Explained& each) { return each.program.waits.size(); }),
    io::row<&Explained::program, &programs::Program::ranks>("Ranks."),
});

constexpr auto kExplained = std::to_array<Written<Explained>>({
    {integer("schema_version", "Version of the format.").in(io::between(1, 1)).required(),
     [](const Explained&) { return Json(1); }},
    {text("name", "Name that the file gives itself."),
     [](const Explained& each) { return each.name.empty() ? Json() : Json(each.name); }},
    {word("method", programs::kEvaluators, "Evaluator of the program.").required(),
     [](const Explained& each) { return Json(programs::kEvaluators[each.explanation.evaluator]); }},
    io::row<&Explained::step_s>("iteration_time_s", "Time of a step, s: period / steps."),
    io::row<&Explained::bottleneck>("What limits the step, as in the summary of a result."),
    {object("summary", io::kKeysOf<kSummary>, "Times of the program.").required(),
     [](const Explained& each) { return io::write(kSummary, each); }},
    {object("program", io::kKeysOf<kSize>, "Size of the program.").required(),
     [](const Explained& each) { return io::write(kSize, each); }},
    io::texts_row<&Explained::sentences, "A sentence.">("What bounds the step, in words."),
    io::row<&Explained::explanation, &Explanation::path, &BindingPath::exact>(
        "The path is a critical cycle; otherwise it comes from recorded events."),
    io::row<&Explained::explanation, &Explanation::path, &BindingPath::iterations>(
        "cycle_iterations", "Iterations that the path spans."),
    io::row<&Explained::explanation, &Explanation::path, &BindingPath::other_cycles>(
        "Other cycles are as critical as the one shown."),
    {list("critical_path", kTimedStepObject,
          "The operations of the critical cycle in time; empty where the path is not exact.")
         .required(),
     path_tree},
    {list("critical_cycle", kStepObject,
          "Operations that set the pace: each starts when the one before it ends.")
         .required(),
     [](const Explained& each) {
       return Json(io::write_each(each.explanation.path.steps, [&](const programs::PathStep& step) {
         return io::write(kStep, Step{each, step});
       }));
     }},
    io::object_row<kAttribution>("attribution", "Where the period goes; each list adds up to it.",
                                 io::Getter<&Explained::explanation, &Explanation::attribution>()),
    io::list_row<kSensitivity, "The derivatives of the period by a parameter.">(
        "derivatives", "How the period depends on parameters.",
        io::Getter<&Explained::explanation, &Explanation::sensitivities>()),
    io::list_row<&Explained::what_if, kWhatIf, "One change, run again.">(
        "Single changes, each run again."),
    io::row<&Explained::measured, &Measured::step_s>(
        "measured_s", "Measured time of a step, s; null without one."),
    {list("gap", kCauseObject,
          "What may explain measured_s - iteration_time_s, each cause alone; they need not add up.")
         .required(),
     [](const Explained& each) { return gap_tree(each.measured); }},
    {list("measure_next", kNextObject,
          "What one measured step would leave of the interval, the best first; left out without "
          "typical conditions."),
     [](const Explained& each) {
       return each.measure_next.empty() ? Json() : io::write_all(kNext, each.measure_next);
     }},
    io::texts_row<&Explained::warnings, "A warning.">("What to know about the result."),
});

constexpr io::Key kExplanation =
    object("explanation", io::kKeysOf<kExplained>, "What stepsim explain --json writes.")
        .and_also(io::kMeta);

// A step of 2 s and an exchange of 4 s that wait for each other.
constexpr std::array<std::string_view, 1> kExamples{
    R"({"attribution":{"by_kind":[{"name":"allreduce","seconds":4},{"name":"step","seconds":2}],"by_layer":[{"name":"no layer","seconds":6}],"by_link":[{"name":"bandwidth","seconds":3},{"name":"no exchange","seconds":2},{"name":"start-up","seconds":1}],"by_unit":[{"name":"no unit","seconds":6}]},"bottleneck":"bandwidth","critical_cycle":[{"iteration":0,"kind":"step","operation":"S","seconds":2,"share_s":2,"unit":null,"visits":1},{"iteration":0,"kind":"allreduce","operation":"X","seconds":4,"share_s":4,"unit":null,"visits":1}],"critical_path":[{"bucket":null,"end_s":2,"layer":null,"phase":"step","start_s":0},{"bucket":null,"end_s":6,"layer":null,"phase":"allreduce","start_s":2}],"cycle_iterations":1,"derivatives":[{"exact":true,"left":1,"parameter":"latency_s","right":1}],"exact":true,"gap":[],"iteration_time_s":6,"measured_s":null,"method":"closed_form","other_cycles":false,"program":{"operations":2,"ranks":1,"streams":2,"waits":2},"schema_version":1,"sentences":["A training step takes 6 s."],"summary":{"exposed_communication_s":4,"interference_s":0,"iterations":100,"makespan_s":600,"period_s":6,"steps":1,"utilization":0.3333333333333333},"warnings":[],"what_if":[{"change":"twice the bandwidth","gain":0.25,"iteration_time_s":4.5,"pointer":null,"set":[],"value":null}]})"};

// Change of the logarithm of the step per standard deviation.
double slope(const IntervalPart& part) { return (part.at_high - part.at_low) / 2; }

// The share of what the factors spread that is left after the measured step.
double share_left(const std::vector<IntervalPart>& asked,
                  const std::vector<IntervalPart>& measured) {
  double spread = 0;
  double common = 0;
  double seen = kStepNoise * kStepNoise;
  for (const IntervalPart& part : asked) {
    spread += slope(part) * slope(part);
    const auto other = std::ranges::find(measured, part.factor, &IntervalPart::factor);
    common += other == measured.end() ? 0 : slope(part) * slope(*other);
  }
  for (const IntervalPart& part : measured) {
    seen += slope(part) * slope(part);
  }
  return spread > 0 ? std::max(0.0, 1 - common * common / seen / spread) : 1;
}

// `left` of the square of a side of the interval beyond what differs between equal runs, and the
// spread that there is beside a measured one.
double side(double bound_s, double step_s, double left, double beside) {
  const double deviation = std::log(bound_s / step_s) / kQuantile80;
  const double square =
      beside * beside + left * std::max(0.0, deviation * deviation - kRestSpread * kRestSpread);
  return step_s * std::exp((bound_s < step_s ? -1 : 1) * kQuantile80 * std::sqrt(square));
}

// A shipped model with its parameters per multiply-accumulate.
struct Shown {
  std::string name;
  bool accepts; // its estimate has to be accepted
  double ratio;
};

// Of the shipped models the one with most bytes per computing, whose steps show most of what
// exchanges cost. Models with less than a tenth of the bytes of this one are left out: their steps
// are starts of messages. None where computing times are not estimated, because those of another
// model are not known then.
std::optional<Shown> model_with_most_bytes(const Scenario& scenario, Files& files) {
  constexpr double kLeast = 0.1;
  std::optional<Shown> best;
  if (!scenario.workload_source.profile.estimate) {
    return best;
  }
  const double least = kLeast * static_cast<double>(scenario.workload.values());
  for (const auto& [name, path] : shipped_files(files.data_folder(), kShippedModels)) {
    const layers::ModelTable& table = files.model(io::Json(name));
    const auto elements = static_cast<double>(table.elements());
    const double ratio = elements / static_cast<double>(table.macs());
    if (elements >= least && (!best || ratio > best->ratio)) {
      best = {name, !layers::estimates_compared(table), ratio};
    }
  }
  return best;
}

} // namespace

Json explained_tree(const Explained& explained) { return io::write(kExplained, explained); }

io::FileKind explanation_kind() { return {"explanation", &kExplanation, kExamples, false}; }

std::vector<MeasureNext> measure_next(const io::Json& tree, const Scenario& scenario,
                                      const Summary& asked, Files& files) {
  if (!is_typical(scenario) || asked.interval_parts.empty()) {
    return {};
  }
  const auto after = [&](std::string what, std::vector<std::string> set,
                         const std::vector<IntervalPart>& measured, double beside) {
    const double left = share_left(asked.interval_parts, measured);
    const double step = step_of(asked);
    return MeasureNext{.what = std::move(what),
                       .set = std::move(set),
                       .low_s = side(*asked.iteration_time_low_s, step, left, beside),
                       .high_s = side(*asked.iteration_time_high_s, step, left, beside)};
  };
  const std::int64_t nodes = scenario.cluster.nodes;
  const std::string place =
      nodes == 1 ? "on this machine" : "on all " + std::to_string(nodes) + " machines";
  std::vector<MeasureNext> all{after("one step " + place, {}, asked.interval_parts, kSeriesSpread)};
  if (nodes > 2) {
    if (const auto two = changed_step(tree, {"/cluster/nodes=2"}, files, true)) {
      all.push_back(after("one step on 2 machines", two->set, two->parts, kSeriesSpread));
    }
  }
  if (const auto model = model_with_most_bytes(scenario, files)) {
    std::vector<std::string> set{"/workload/model=" + model->name};
    if (model->accepts) {
      set.emplace_back("/workload/accept_estimate=true");
    }
    if (auto step = changed_step(tree, std::move(set), files, true)) {
      if (auto* estimate = base::found(step->parts, kEstimateOfInterval, &IntervalPart::factor)) {
        estimate->factor = {}; // how far it is off says nothing of another model
      }
      all.push_back(
          after("one step of " + model->name + " " + place, step->set, step->parts, kRestSpread));
    }
  }
  std::ranges::stable_sort(all, {}, [](const MeasureNext& each) { return each.high_s; });
  return all;
}

} // namespace stepsim::study
