// All values run as one sweep; scanned knobs are then refined around the best. References are runs
// of their own, and a reference that cannot exist (no optimal merge for this scenario) is left out.
#include "study/tune.hpp"

#include "document/fields/members.hpp"
#include "document/json_text.hpp"
#include "scenario/scenario_conditions.hpp"
#include "study/step_changes.hpp"
#include "study/sweep/ranking.hpp"

namespace stepsim::study {

namespace {

// Appends points to the curve.
void run_curve(const std::string& pointer, const io::Json& scenario,
               const std::vector<io::Json>& values, Files& files, const SweepOptions& options,
               Tuning& tuning) {
  for (TunePoint& point : run_points(scenario, pointer, values, files, options, tuning.warnings)) {
    tuning.curve.push_back(std::move(point));
  }
}

// The first of the least times; the end of the list where all failed.
// Ties within rounding go to the first value.
std::size_t best_of(const std::vector<TunePoint>& curve) {
  std::size_t best = curve.size();
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const double least = best < curve.size() ? curve[best].step_s() : HUGE_VAL;
    if (curve[i].step_s() < least * (1 - 1e-12)) {
      best = i;
    }
  }
  return best;
}

// Of equally good values the one in use, else the default, else the first.
// An equally good value is no reason to change anything.
std::size_t familiar(const std::vector<TunePoint>& curve, std::size_t best, const io::Json& current,
                     const io::Json& standard) {
  const double limit = curve[best].step_s() * (1 + 1e-9);
  for (const io::Json& value : {current, standard}) {
    for (std::size_t i = 0; i < curve.size(); ++i) {
      if (curve[i].value == value && curve[i].step_s() <= limit) {
        return i;
      }
    }
  }
  return best;
}

// The value nearest the default, as a ratio, whose time is within 1 % of the shortest: less than
// that is no reason to leave what everybody runs.
std::size_t nearest_default(const std::vector<TunePoint>& curve, std::size_t best,
                            const io::Json& standard) {
  const double limit = curve[best].step_s() * (1 + kNearBest);
  const auto distance = [&](std::size_t i) {
    return std::abs(std::log(curve[i].value.as_double() / standard.as_double()));
  };
  std::size_t nearest = best;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].step_s() <= limit && distance(i) < distance(nearest)) {
      nearest = i;
    }
  }
  return nearest;
}

// How far the neighbours that were tried lie from the best: the answer is known to that distance.
double relative_gap(const std::vector<TunePoint>& curve, std::size_t best) {
  const double value = curve[best].value.as_double();
  double gap = 0;
  for (const std::size_t i : {best - 1, best + 1}) {
    if (i < curve.size()) { // best - 1 wraps
      gap = std::max(gap, std::abs(curve[i].value.as_double() - value) / std::max(value, 1e-300));
    }
  }
  return gap;
}

// New values between the best and its neighbours, until they are close.
void refine(const std::string& pointer, const TuneValues& values, Files& files,
            const SweepOptions& options, Tuning& tuning) {
  const int parts = values.refinements > 1 ? 6 : 3; // a gap is cut into
  const auto unit = static_cast<double>(values.unit);
  for (int round = 0; round < values.refinements; ++round) {
    const std::size_t best = best_of(tuning.curve);
    if (best == tuning.curve.size()) {
      return;
    }
    std::vector<io::Json> more;
    for (std::size_t left = best == 0 ? 0 : best - 1;
         left <= best && left + 1 < tuning.curve.size(); ++left) {
      const double low = tuning.curve[left].value.as_double();
      const double high = tuning.curve[left + 1].value.as_double();
      double before = low;
      for (int i = 1; i < parts; ++i) {
        const double part = static_cast<double>(i) / parts;
        double value = low > 0 ? low * std::pow(high / low, part) : high * part;
        value = unit > 0 ? std::round(value / unit) * unit : value;
        if (value > before && value < high) {
          more.push_back(unit > 0 ? io::Json(static_cast<std::int64_t>(value)) : io::Json(value));
          before = value;
        }
      }
    }
    run_curve(pointer, values.scenario, more, files, options, tuning);
    std::ranges::stable_sort(tuning.curve, {},
                             [](const TunePoint& point) { return point.value.as_double(); });
  }
}

// The curve in `tuning` and the index of the answer in it; the length of the curve if all values
// failed.
std::size_t find_best(const std::string& pointer, const TuneValues& values, const io::Json& current,
                      Files& files, const SweepOptions& options, Tuning& tuning) {
  run_curve(pointer, values.scenario, values.values, files, options, tuning);
  refine(pointer, values, files, options, tuning);
  const std::size_t best = best_of(tuning.curve);
  return best == tuning.curve.size() ? best
         : values.near_default       ? nearest_default(tuning.curve, best, values.default_value)
                                     : familiar(tuning.curve, best, current, values.default_value);
}

// PIP 10: the smallest width whose period is within the tolerance of the widest that could be run.
// One at least could.
std::size_t smallest_width(const std::vector<TunePoint>& curve, double tolerance) {
  const auto widest = std::ranges::find_if(curve.rbegin(), curve.rend(), &TunePoint::ran);
  constexpr double kRounding = 1e-12;
  const double most_s = widest->step_s() * (1 + tolerance) * (1 + kRounding);
  const auto first =
      std::ranges::find_if(curve, [&](const TunePoint& point) { return point.step_s() <= most_s; });
  return static_cast<std::size_t>(first - curve.begin());
}

// The value is shown as it is; the scenario that runs may hold it in another form.
void add_reference(const std::string& name, const io::Json& scenario, io::Json value, Files& files,
                   Tuning& tuning) {
  try {
    tuning.references.push_back(
        {name, tune_point(row_of(scenario, files), std::move(value)), std::nullopt, std::nullopt});
  } catch (const InputError&) { // this scenario has no such reference: no optimal merge, say
  } catch (const SimulationError&) {}
}

// The value that the scenario has now; null where it has none.
io::Json current_value(const TuneProblem& problem, const std::string& pointer, Files& files) {
  try {
    const io::Json tree = scenario_tree(parse_scenario(problem.scenario, files, Leftovers::ignore));
    const io::Json* found = io::resolve(tree, pointer);
    return found == nullptr ? io::Json() : *found;
  } catch (const InputError&) {
    return {};
  }
}

void add_regrets(Tuning& tuning) {
  const double best = tuning.best && tuning.best->ran() ? tuning.best->step_s() : 0;
  for (TuneReference& reference : tuning.references) {
    if (reference.point.ran() && best > 0) {
      const double regret = reference.point.step_s() / best - 1;
      reference.regret = std::abs(regret) < 1e-12 ? 0 : regret; // rounding
    }
  }
}

// The gain over what the scenario has now or, where it has no such value, over the default.
void add_advice(const TuneValues& values, Files& files, Tuning& tuning) {
  for (const TuneReference& reference : tuning.references) {
    if (reference.regret && (reference.name == "current" || reference.name == "default")) {
      tuning.gain = gain_over(parse_scenario(values.scenario, files, Leftovers::ignore),
                              tuning.best->record, reference.point.record);
      return;
    }
  }
}

// The answer at half and at twice the latency of all links, among the values within a factor 2 of
// the answer and the default; none where no latency counts.
void add_range(const std::string& pointer, const TuneValues& values, Files& files,
               const SweepOptions& options, Tuning& tuning) {
  const io::Json resolved =
      scenario_tree(parse_scenario(values.scenario, files, Leftovers::ignore));
  std::vector<io::Json> near;
  for (const TunePoint& point : tuning.curve) {
    const double ratio = point.value.as_double() / tuning.best->value.as_double();
    if ((ratio >= 0.5 && ratio <= 2) || point.value == values.default_value) {
      near.push_back(point.value);
    }
  }
  std::vector<io::Json> answers;
  bool counts = false;
  for (const double factor : {0.5, 2.0}) {
    TuneValues scaled = values;
    scaled.values = near;
    scaled.refinements = 0;
    for (const std::string_view place : {"/cluster/network", "/cluster/intra_network"}) {
      for (const std::string_view key : {"/latency_s", "/block_latency_s"}) {
        const std::string at = std::string(place) + std::string(key);
        const io::Json* latency = io::resolve(resolved, at);
        if (latency != nullptr && latency->is_number() && latency->as_double() > 0) {
          io::assign(scaled.scenario, at, latency->as_double() * factor);
        }
      }
    }
    Tuning other;
    try {
      const std::size_t best = find_best(pointer, scaled, {}, files, options, other);
      if (best == other.curve.size()) {
        return;
      }
      const auto compared = [](const TunePoint& point) { return base::comparable(point.step_s()); };
      counts = counts || compared(other.curve[best]) != compared(*tuning.best);
      answers.push_back(other.curve[best].value);
    } catch (const InputError&) { // no latency can be given beside what times the exchanges
      return;
    }
  }
  if (counts) {
    tuning.range = std::pair(answers.front(), answers.back());
  }
}

// "optimal" is the default of knobs that the simulator can choose itself (block_bytes).
void add_references(const TuneProblem& problem, const TuneValues& values, io::Json current,
                    Files& files, Tuning& tuning) {
  const std::string pointer(row(problem.knob).pointer());
  io::Json own = problem.scenario;
  if (problem.knob == Knob::pipeline_width) { // as in the curve
    io::assign(own, "/training/warmup_iterations", nullptr);
  }
  add_reference("current", own, std::move(current), files, tuning);
  if (!values.default_value.is_null()) {
    const bool is_optimal = values.default_value == io::Json("optimal");
    add_reference(is_optimal ? "optimal" : "default",
                  with_value(values.scenario, pointer, values.default_value), values.default_value,
                  files, tuning);
  }
  // The best merge ends first where messages slow nothing down.
  if (row(problem.knob).merges &&
      !parse_scenario(problem.scenario, files, Leftovers::ignore).training.overlap.any()) {
    add_reference(std::string(kBestMerge),
                  with_value(problem.scenario, "/communication/schedule", "optimal"), nullptr,
                  files, tuning);
  }
}

// A few numbers of the record; the whole record is that of a sweep.
io::Json tried_tree(const TuneProblem& problem, const TunePoint& point) {
  io::Json tree = io::tree_of<&TunePoint::value, &TunePoint::iteration_time_s>(point);
  for (const std::string_view key : {"exposed_communication_s", "scaling_efficiency"}) {
    tree.set(key, io::or_null(number_in(point.record, key)));
  }
  if (const auto band = band_in(point.record)) {
    tree.set("iteration_time_low_s", band->low);
    tree.set("iteration_time_high_s", band->high);
  }
  if (problem.knob == Knob::pipeline_width) {
    const auto width =
        point.value.is_number() ? std::optional(point.value.as_double()) : std::nullopt;
    tree.set("staleness", width ? io::Json(static_cast<std::int64_t>(*width) - 1) : io::Json());
  }
  if (problem.knob == Knob::density) {
    for (const std::string_view key :
         {"k", "speedup_vs_dense_sequential", "speedup_vs_dense_overlapped"}) {
      tree.set(key, io::or_null(number_in(point.record, key)));
    }
  }
  io::set_given(tree, "error", point.error);
  return tree;
}

} // namespace

// Words have no order: their curve is sorted by time at the end.
double published_error(const Scenario& scenario, double exposed_share) {
  const bool measured =
      scenario.workload_source.model.empty() && exchanges(scenario) && !links_lose(scenario);
  return measured ? kMeasuredError : published_error(exposed_share);
}

Gain gain_over(const Scenario& scenario, const io::Json& record, const io::Json& reference) {
  const double step = number_in(reference, kIterationTime).value();
  const double ratio = number_in(record, kIterationTime).value() / step;
  const double exposed = number_in(reference, "exposed_communication_s").value_or(0);
  Gain gain{.value = 1 - base::comparable(ratio),
            .published_error = published_error(scenario, exposed / step)};
  if (const auto paired = paired_difference(record, reference, std::log(ratio))) {
    gain.range = paired->range_of_gain();
  }
  return gain;
}

void write_gain(const std::optional<Gain>& gain, io::Json& tree) {
  tree.set("gain", gain ? io::Json(gain->value) : io::Json());
  tree.set("published_error", gain ? io::Json(gain->published_error) : io::Json());
  tree.set("advice", !gain || gain->worth_it() ? "change" : "leave");
  if (gain && gain->range) {
    tree.set("gain_low", gain->range->first);
    tree.set("gain_high", gain->range->second);
  }
}

Tuning tune(const TuneProblem& problem, const TuneValues& values, Files& files,
            const SweepOptions& options) {
  if (problem.knob == Knob::density) {
    Tuning tuning = tune_density(problem, values, files, options);
    add_regrets(tuning);
    return tuning;
  }
  const std::string pointer(row(problem.knob).pointer());
  const io::Json current = current_value(problem, pointer, files);
  Tuning tuning;
  tuning.exact = values.exact;
  tuning.near_default = values.near_default;
  std::size_t best = find_best(pointer, values, current, files, options, tuning);
  if (best == tuning.curve.size()) {
    throw SimulationError("every value of " + std::string(row(problem.knob).name) +
                          " failed, first: " + tuning.curve.front().error);
  }
  if (problem.knob == Knob::pipeline_width) {
    tuning.tolerance =
        parse_scenario(values.scenario, files, Leftovers::ignore).training.width_tolerance;
    best = smallest_width(tuning.curve, tuning.tolerance);
  } else {
    tuning.tolerance = tuning.exact ? 0 : relative_gap(tuning.curve, best);
  }
  tuning.best = tuning.curve[best];
  add_references(problem, values, current, files, tuning);
  add_regrets(tuning);
  add_advice(values, files, tuning);
  if (values.near_default) {
    add_range(pointer, values, files, options, tuning);
  }
  if (problem.knob == Knob::collective || problem.knob == Knob::schedule) {
    std::ranges::stable_sort(
        tuning.curve, {}, [](const TunePoint& point) { return base::comparable(point.step_s()); });
  }
  return tuning;
}

io::Json tuning_tree(const TuneProblem& problem, const Tuning& tuning) {
  const auto tree_of = [&](const TunePoint& point) { return tried_tree(problem, point); };
  io::Array references = io::write_each(tuning.references, [&](const TuneReference& reference) {
    io::Json tree = tree_of(reference.point);
    io::set_members<&TuneReference::name, &TuneReference::regret>(reference, tree);
    io::set_given(tree, "largest_k", reference.largest_k);
    return tree;
  });
  io::Json tree(io::Object{
      {"knob", row(problem.knob).name},
      {"best", tuning.best ? tree_of(*tuning.best) : io::Json()},
      {"curve", io::write_each(tuning.curve, tree_of)},
      {"references", std::move(references)},
  });
  io::set_members<&Tuning::tolerance, &Tuning::exact, &Tuning::near_default, &Tuning::warnings>(
      tuning, tree);
  write_gain(tuning.gain, tree);
  if (tuning.range) {
    tree.set("latency_range",
             io::Object{{"half", tuning.range->first}, {"twice", tuning.range->second}});
  }
  if (problem.knob == Knob::density) {
    tree.set("advice", nullptr); // the answer is a limit, and no best value
    tree.set("baseline",
             problem.baseline == programs::DenseBaseline::sequential ? "sequential" : "overlapped");
  }
  return tree;
}

} // namespace stepsim::study
