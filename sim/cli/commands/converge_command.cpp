// stepsim converge: what staleness and compression do to training, on problems solved for real.
// Two problems that share no code but the flags: a scalar recurrence, and loss curves over the
// simulated time of one or more scenarios. A flag of the other problem is refused.
#include "cli/commands/commands.hpp"

#include "cli/text/answer_texts.hpp"

#include <CLI/CLI.hpp>

#include "cli/commands/scenario_input.hpp"
#include "cli/shell/unit_text.hpp"

namespace stepsim::cli {

namespace {

constexpr CommandText kConvergeText{
    "converge",
    "[SCENARIO]",
    R"(Trains a small problem with the updates of an algorithm. quadratic: a scalar, by steps; shows
which learning rates a pipeline of width K bears. logistic: a small logistic regression on
generated data, with the workers, the compression and the simulated times of a scenario: loss
over time. The accuracy that a large model reaches does not follow from it.)",
    "stepsim converge --problem quadratic --pipeline-width 2 --step 0.99\n"
    "stepsim converge scenario.json --problem logistic --target-loss 0.9 --over "
    "/training/algorithm=sync_sgd,pipe_sgd\n"
    "stepsim converge scenario.json --problem logistic --over "
    "/communication/compression/method=none,topk,gtopk_tree --json -o curves.json",
    "The problems and what a point of a curve is: docs/algorithms.md.",
};

// Flags of both problems. Those that are not given stay empty, because the defaults differ between
// the problems and a flag of the other problem is an error.
struct ConvergeFlags {
  std::string problem;
  std::optional<double> step;
  std::optional<std::int64_t> iterations;
  std::optional<std::int64_t> width, warmup; // quadratic
  std::string warmup_switch;
  std::optional<std::int64_t> batch; // logistic
  std::optional<double> target_loss;
  ScenarioFlags scenario;
};

void add_flags(CLI::App& app, ConvergeFlags& flags) {
  app.add_option("SCENARIO", flags.scenario.file,
                 "logistic: file of kind scenario; - = standard input");
  add_value(app, "--problem", flags.problem, "NAME", "quadratic or logistic")->required();
  add_value(app, "--step", flags.step, "X",
            "quadratic: learning rate times curvature, required; logistic: learning rate, "
            "default 1");
  add_value(app, "--iterations", flags.iterations, "T",
            "steps; default 1000, logistic 300 (in place of the scenario's)");
  app.option_defaults()->group("Problem quadratic");
  add_value(app, "--pipeline-width", flags.width, "K",
            "a step applies the gradient of K steps before; default 2");
  add_value(app, "--warmup-iterations", flags.warmup, "W", "synchronous steps before; default 0");
  add_value(app, "--warmup-switch", flags.warmup_switch, "NAME", "skip or block; default skip");
  app.option_defaults()->group("Problem logistic");
  add_value(app, "--batch-size", flags.batch, "N",
            "samples of the small problem per worker and iteration; default 8");
  add_value(app, "--target-loss", flags.target_loss, "LOSS",
            "also the time to reach it; exit code 4 if no curve does");
  add_over_flag(app, flags.scenario);
  app.option_defaults()->group("Options");
  add_scenario_flags(app, flags.scenario);
}

// Throws UsageError for a count outside [least, most]. CLI11 has made the text a number; only the
// range is checked here.
void require_count(std::string_view flag, std::optional<std::int64_t> value, std::int64_t least,
                   std::int64_t most) {
  if (value && (*value < least || *value > most)) {
    throw UsageError(std::string(flag) + ": must be an integer in [" + std::to_string(least) +
                     ", " + std::to_string(most) + "], got " + std::to_string(*value));
  }
}

// Infinity passes CLI11 as a number. "inf" and "nan" are numbers for it; a step of either would
// only show as a curve that never ends.
void require_positive(std::string_view flag, std::optional<double> value) {
  if (value && !(*value > 0 && std::isfinite(*value))) {
    throw UsageError(std::string(flag) + ": must be > 0" +
                     (std::isfinite(*value) ? ", got " + base::shortest(*value) : ""));
  }
}

constexpr std::int64_t kMostIterations = 1'000'000;

// Without a file and without a scenario: the recurrence depends on width, step and warm-up alone
// (PIP 11). "Grows" compares the largest distances of two quarters of the run and not two steps,
// because a stable pipeline oscillates too.
int quadratic(const ConvergeFlags& flags, const Common& common) {
  refuse_others(common, {"--problem", "--step", "--iterations", "Problem quadratic"},
                "has no meaning for --problem quadratic");
  if (!flags.step) {
    throw UsageError("--step: --problem quadratic needs a learning rate times curvature");
  }
  const std::int64_t iterations = flags.iterations.value_or(1000);
  study::Staleness staleness{.width = flags.width.value_or(2),
                             .warmup_iterations = flags.warmup.value_or(0)};
  require_count("--pipeline-width", staleness.width, 1, kMostIterations);
  require_count("--warmup-iterations", staleness.warmup_iterations, 0, iterations);
  read_word("--warmup-switch", flags.warmup_switch, programs::kWarmupSwitches,
            staleness.warmup_switch);
  if (staleness.warmup_switch == programs::WarmupSwitch::block && staleness.width != 2) {
    throw UsageError("--warmup-switch: the block switch is defined for width 2");
  }
  const study::QuadraticRun run = study::converge_quadratic(staleness, *flags.step, iterations);
  const auto applied = base::collected<io::Json>(
      run.applied_gradient, [](const auto& gradient) { return io::or_null(gradient); });
  const auto steps = static_cast<std::int64_t>(run.applied_gradient.size());
  const std::string text =
      "pipeline width " + std::to_string(staleness.width) + ", staleness " +
      std::to_string(staleness.width - 1) + ", step " + base::shortest(*flags.step) + "\n" +
      (run.converged ? "shrinks"
       : run.grows() ? "grows"
                     : "neither shrinks nor grows") +
      ": distance " + base::significant(run.final_distance) + " of the start after " +
      std::to_string(steps) +
      (steps < iterations ? " steps, where the run was given up\n"
       : steps < 4        ? " steps\n"
                          : " steps; at most " + base::significant(run.earlier) +
                         " in the second quarter of them, " + base::significant(run.largest) +
                         " in the last\n") +
      "stable for steps below " + base::significant(study::stability_limit(staleness.width)) + "\n";
  const io::Json tree(
      io::Object{{"problem", "quadratic"},
                 {std::string(io::member_name<&study::Summary::pipeline_width>()), staleness.width},
                 {"step", *flags.step},
                 {"stability_limit", study::stability_limit(staleness.width)},
                 {"iterations", iterations},
                 {"converged", run.converged},
                 {"final_distance", run.final_distance},
                 {"applied_gradient", applied},
                 {"points", io::Array{}}});
  return write_document(common, {.text = [&] { return text; }, .tree = [&] { return tree; }});
}

// One curve per combination of --over, at most 1000. A combination that cannot be parsed or run
// leaves a curve with its error; if all of them fail, the fault is that of the file or the flags,
// and the last error is thrown.
Curves run_curves(const ConvergeFlags& flags, const study::CurveOptions& options,
                  study::Files& files, const Common& common) {
  const io::Json tree = read_scenario_tree(flags.scenario, files, common);
  if (flags.scenario.over.empty()) {
    const study::Scenario scenario = load_scenario(tree, files, flags.scenario);
    begin_work(study::estimated_seconds(scenario, options), flags.scenario, common);
    return {{}, {{{}, {}, study::loss_curve(scenario, options), {}}}};
  }
  const study::Sweep sweep = study::sweep_over(tree, parse_over_flags(flags.scenario));
  constexpr std::int64_t kMostCurves = 1000;
  if (sweep.grid.points() > kMostCurves) {
    throw UsageError("--over: " + std::to_string(sweep.grid.points()) +
                     " combinations are too many curves, at most " + std::to_string(kMostCurves));
  }
  Curves found{sweep.grid.field_names(), {}};
  std::int64_t failed = 0;
  const auto progress = counting(common);
  for (std::int64_t point = 0; point < sweep.grid.points(); ++point) {
    progress(point, sweep.grid.points());
    NamedCurve& named = found.curves.emplace_back();
    const std::vector<std::size_t> position = sweep.grid.position(point);
    for (std::size_t a = 0; a < found.varied.size(); ++a) {
      const io::Json& value = sweep.grid.axes[a].values[position[a]];
      named.varied.emplace_back(found.varied[a], value);
      const ColumnUnit unit = column_unit(found.varied[a]);
      named.varied_cells.push_back(value.is_number() && unit.factor != 1
                                       ? cell(value.as_double(), unit.factor)
                                       : plain_cell(value));
    }
    try {
      const study::Scenario scenario = study::parse_scenario(
          study::scenario_at(sweep.base, sweep.grid, point), files, study::Leftovers::ignore);
      const double estimate_s = study::estimated_seconds(scenario, options);
      study::refuse_long_work(estimate_s, max_seconds(flags.scenario));
      if (point == 0) { // others show how long they take
        common.work.estimate(estimate_s * static_cast<double>(sweep.grid.points()));
      }
      named.curve = study::loss_curve(scenario, options);
    } catch (const InputError& error) {
      if (++failed == sweep.grid.points()) { // none is possible: it is the file or the flags
        rethrow_for_flags(error, sweep.base, flags.scenario);
      }
      named.error = error.what();
    } catch (const SimulationError& error) {
      if (++failed == sweep.grid.points()) {
        throw;
      }
      named.error = error.what();
    }
  }
  return found;
}

// Width and warm-up belong to the scenario here, so that times and updates agree; flags for them
// point at the keys.
int logistic(const ConvergeFlags& flags, const Common& common, const Invocation& invocation) {
  constexpr std::string_view kName = "logistic";
  if (flags.scenario.file.empty()) {
    throw UsageError("--problem logistic needs a SCENARIO");
  }
  const auto refuse_key = [&](bool given, std::string_view flag, std::string_view key) {
    if (given) {
      throw UsageError(std::string(flag) + ": --problem " + std::string(kName) +
                       " takes it from the scenario, --set /training/" + std::string(key) + "=..");
    }
  };
  refuse_key(flags.width.has_value(), "--pipeline-width",
             io::member_name<&study::Summary::pipeline_width>());
  refuse_key(flags.warmup.has_value(), "--warmup-iterations", "warmup_iterations");
  refuse_key(!flags.warmup_switch.empty(), "--warmup-switch", "warmup_switch");
  study::CurveOptions options;
  options.iterations = flags.iterations.value_or(options.iterations);
  options.learning_rate = flags.step.value_or(options.learning_rate);
  require_count("--batch-size", flags.batch, 1, 1'000'000);
  options.batch = static_cast<std::uint32_t>(flags.batch.value_or(options.batch));
  require_positive("--target-loss", flags.target_loss);
  options.target_loss = flags.target_loss;
  study::Files files(invocation.data_folder, {common.output});
  Curves found = run_curves(flags, options, files, common);
  sort_best_first(found);
  write_document(common, curves_document(found, options));
  const bool reached = std::ranges::any_of(found.curves, [](const NamedCurve& named) {
    return named.curve.time_to_target_s.has_value();
  });
  const auto failed = std::ranges::count_if(
      found.curves, [](const NamedCurve& named) { return !named.error.empty(); });
  if (failed > 0) {
    throw SimulationError(fmt::format("{} of {} curves failed", failed, found.curves.size()));
  }
  return options.target_loss && !reached ? kTargetNotMet : kOk;
}

} // namespace

// --step and --iterations mean something to both problems and are checked once.
int converge(const Invocation& invocation) {
  ConvergeFlags flags;
  CLI::App app;
  add_flags(app, flags);
  Common common(app, kConvergeText, invocation);
  require_word("--problem", flags.problem, {"quadratic", "logistic"});
  require_positive("--step", flags.step);
  require_count("--iterations", flags.iterations, 1, kMostIterations);
  return flags.problem == "quadratic" ? quadratic(flags, common)
                                      : logistic(flags, common, invocation);
}

} // namespace stepsim::cli
