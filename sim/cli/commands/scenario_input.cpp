// --method and --seed are short for --set /method and --set /seed. Values are put into the tree
// before it is parsed, so a flag and a key of the file go through the same checks.
#include "cli/commands/scenario_input.hpp"

#include <CLI/CLI.hpp>

#include <cctype>

#include "cli/shell/flag_values.hpp"
#include "cli/shell/output.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "scenario/keys/scenario_keys.hpp"
#include "scenario/scenario_conditions.hpp"
#include "study/explained.hpp"
#include "study/sweep/assumed.hpp"

namespace stepsim::cli {

namespace {

// Pointer that a flag sets, and the flag as typed.
std::vector<std::pair<std::string, std::string>> set_pointers(const ScenarioFlags& flags) {
  std::vector<std::pair<std::string, std::string>> pointers;
  for (const std::string& text : flags.set) {
    const std::string pointer = study::parse_set(text).first;
    const auto job = flags.job.find(pointer);
    pointers.emplace_back(pointer,
                          job == flags.job.end()
                              ? std::string(flags.set_flag) + " " + base::shown_value(text, 80)
                              : job->second + " " + text.substr(pointer.size() + 1));
  }
  for (const auto& [name, value] :
       {std::pair("conditions", &flags.conditions), std::pair("method", &flags.method),
        std::pair("seed", &flags.seed)}) {
    if (!value->empty()) {
      pointers.emplace_back("/" + std::string(name),
                            "--" + std::string(name) + " " + base::shown_value(*value));
    }
  }
  return pointers;
}

// The flag that set the value the problem is about, or an object above it, and the place of the
// problem; empty if no flag did.
std::string blamed_flag(const base::Problem& problem, const ScenarioFlags& flags) {
  std::string blamed;
  for (const auto& [pointer, flag] : set_pointers(flags)) {
    const bool made_on_the_way =
        problem.message.starts_with("unknown key") && is_at_or_below(pointer, problem.where);
    if (is_at_or_below(problem.where, pointer) || made_on_the_way) { // the last wins, as it does
      blamed = flag + (problem.where == pointer ? "" : ": " + problem.where);
    }
  }
  return blamed;
}

// Takes out of `tree` what had a meaning before the flags, which do not name it.
std::vector<study::MeaninglessKey> drop_lost_keys(const io::Json& before, io::Json& tree,
                                                  const ScenarioFlags& flags, study::Files& files) {
  const auto pointers = set_pointers(flags);
  std::optional<bool> readable;
  const auto may = [&](std::string_view place) {
    const bool named = std::ranges::any_of(pointers, [&](const auto& set) {
      return is_at_or_below(set.first, place) || is_at_or_below(place, set.first);
    });
    if (!named && study::is_given(before, std::string(place)) && !readable) {
      readable = study::problems_of(before, files, study::Leftovers::refuse).empty();
    }
    return !named && readable.value_or(false);
  };
  std::vector<study::MeaninglessKey> lost;
  try {
    (void)study::without_leftovers(tree, files, may, lost);
  } catch (const InputError&) { // whoever reads the scenario tells it
  }
  return lost;
}

// The flags of /job, and what their values are.
constexpr std::array<std::pair<std::string_view, const char*>, 7> kJobFlags{
    {{"--samples", "N"},
     {"--tokens", "N"},
     {"--tokens-per-sample", "N"},
     {"--price-per-gpu-hour", "USD"},
     {"--mtbf", "TIME"},
     {"--checkpoint-s", "TIME"},
     {"--restart-s", "TIME"}}};

// The error of a flag of /job that another one requires: "--checkpoint-s: required with --mtbf".
// Empty for any other problem.
std::string missing_job_flag(const base::Problem& problem, const ScenarioFlags& flags) {
  for (const auto& [flag, type] : kJobFlags) {
    if (pointer_of_flag(flag) != problem.where || !problem.message.starts_with("required")) {
      continue;
    }
    for (const auto& [pointer, given] : flags.job) {
      const std::string key = pointer.substr(pointer.rfind('/') + 1);
      if (const std::size_t at = problem.message.find(key); at != std::string::npos) {
        return std::string(flag) + ": " +
               std::string(problem.message).replace(at, key.size(), given);
      }
    }
  }
  return {};
}

bool runs_by_another_method(study::Scenario scenario) {
  scenario.method.reset();
  try {
    (void)study::run(scenario);
    return true;
  } catch (const SimulationError&) {
    return false;
  }
}

// The error of the flag that set the value at `place`, or else of the file.
[[noreturn]] void blame(const char* message, const std::string& place, const io::Json& tree,
                        const ScenarioFlags& flags) {
  const std::string flag = blamed_flag({std::string(tree.file()), place, ""}, flags);
  if (!flag.empty()) {
    throw UsageError(flag + ": " + message);
  }
  throw InputError(std::string(tree.file()), place, message);
}

// Of a point of a sweep or a result, keys without a meaning are left out, but not what was typed.
void refuse_lost_flags(const io::Json& tree, study::Files& files, const ScenarioFlags& flags) {
  for (const base::Problem& problem : study::problems_of(tree, files, study::Leftovers::refuse)) {
    if (const std::string flag = blamed_flag(problem, flags); !flag.empty()) {
      throw UsageError(flag + ": " + problem.message);
    }
  }
}

} // namespace

// Their callbacks come after that of --set, which was added first and replaces the list.
void add_job_flags(CLI::App& app, ScenarioFlags& flags) {
  for (const auto& [flag, type] : kJobFlags) {
    const std::string pointer = pointer_of_flag(flag);
    std::string sentence(io::key_at(study::keys::kScenario, pointer)->sentence);
    sentence.front() =
        static_cast<char>(std::tolower(static_cast<unsigned char>(sentence.front())));
    sentence.pop_back(); // the full stop
    app.add_option_function<std::string>(
           std::string(flag),
           [&flags, pointer, flag = std::string(flag)](const std::string& value) {
             flags.set.push_back(pointer + "=" + value);
             flags.job[pointer] = flag;
           },
           sentence)
        ->type_name(type)
        ->group(kJobGroup);
  }
}

void add_scenario_flags(CLI::App& app, ScenarioFlags& flags) {
  add_value(app, "--set", flags.set, "POINTER=VALUE",
            "changes one value of the scenario, e.g. /cluster/nodes=64; a number with a unit "
            "is converted, a bare one is in the SI unit of the key; repeatable")
      ->allow_extra_args(false);
  add_value(app, "--method", flags.method, "WORD",
            "auto, closed_form, max_plus or events; default the scenario's");
  add_value(app, "--seed", flags.seed, "N", "integer; default the scenario's");
  add_value(app, "--conditions", flags.conditions, "WORD",
            "ideal or typical; default the scenario's; typical: with what real runs lose, and "
            "an interval");
  add_max_seconds_flag(app, flags.max_seconds);
  add_value(app, "--point", flags.point, "N",
            "the file is the output of a sweep: its point N, from 0");
}

void add_must_fit_flag(CLI::App& app, bool& must_fit, const std::string& meaning) {
  app.add_flag("--must-fit", must_fit, meaning);
}

int must_fit_code(bool must_fit, bool fits, bool is_known, const Common& common) {
  if (must_fit && !is_known) {
    const std::string warning = "--must-fit tells nothing: the memory of a GPU is not known "
                                "(/cluster/gpu_memory_bytes)";
    print_warnings({&warning, 1}, common);
  }
  return fits || !must_fit ? kOk : kTargetNotMet;
}

int must_fit_code(bool must_fit, const study::Summary& summary, const Common& common) {
  return must_fit_code(must_fit, summary.memory_fits.value_or(true),
                       summary.memory_capacity_bytes.has_value(), common);
}

// Short forms are expanded after every --set, because the next one may point into the object.
void apply_flags(io::Json& tree, const ScenarioFlags& flags) {
  if (!flags.method.empty()) {
    require_word("--method", flags.method, study::keys::evaluators());
  }
  std::int64_t seed = 0;
  if (!flags.seed.empty()) {
    seed = count("--seed", flags.seed, io::at_least(0));
  }
  if (!flags.conditions.empty()) {
    require_word("--conditions", flags.conditions, study::kConditionsKinds.all());
    study::set_conditions(*study::kConditionsKinds.find(flags.conditions), tree);
  }
  for (const std::string& text : flags.set) {
    of_flag(std::string(flags.set_flag) + " ", [&] {
      auto [pointer, value] = study::parse_set(text);
      io::assign(tree, pointer, std::move(value));
      tree = study::with_short_forms_expanded(std::move(tree));
    });
  }
  if (!flags.method.empty()) {
    io::assign(tree, "/method", flags.method);
  }
  if (!flags.seed.empty()) {
    io::assign(tree, "/seed", seed);
  }
}

double max_seconds(const ScenarioFlags& flags) { return max_seconds(flags.max_seconds); }

void begin_work(double estimate_s, const ScenarioFlags& flags, const Common& common) {
  study::refuse_long_work(estimate_s, max_seconds(flags));
  common.work.estimate(estimate_s);
}

study::SweepOptions sweep_options(const ScenarioFlags& flags, const Common& common) {
  return {.jobs = default_jobs(), .max_seconds = max_seconds(flags), .progress = counting(common)};
}

bool is_at_or_below(std::string_view place, std::string_view pointer) {
  return place.starts_with(pointer) &&
         (place.size() == pointer.size() || place[pointer.size()] == '/');
}

void apply_flags(io::Json& tree, const ScenarioFlags& flags, study::Files& files,
                 const Common& common) {
  const io::Json before = flags.set.empty() ? io::Json() : tree;
  apply_flags(tree, flags);
  std::set<std::string> seen;
  for (const std::string& text : flags.set) {
    if (const std::string pointer = study::parse_set(text).first; !seen.insert(pointer).second) {
      print_note("--set " + pointer + ": given twice, the last one counts", common);
    }
  }
  if (before.is_null() || study::is_program(tree)) {
    return;
  }
  for (const study::MeaninglessKey& key : drop_lost_keys(before, tree, flags, files)) {
    print_note("left out: " + key.pointer + ", because " + key.reason, common);
  }
}

io::Json read_scenario_tree(const ScenarioFlags& flags, study::Files& files, const Common& common) {
  io::Json tree = read_scenario_source(flags.file, flags.point, files.data_folder()).tree;
  apply_flags(tree, flags, files, common);
  return tree;
}

// Only the first problem decides: the others may follow from it.
void blame_flag(const InputError& error, const io::Json& tree, const ScenarioFlags& flags) {
  const base::Problem& problem = error.problems().front();
  const std::string flag = blamed_flag(problem, flags);
  if (!flag.empty() && problem.file == tree.file()) {
    throw UsageError(flag + ": " + problem.message);
  }
  if (const std::string missing = missing_job_flag(problem, flags); !missing.empty()) {
    throw UsageError(missing);
  }
}

study::Scenario load_scenario(const io::Json& tree, study::Files& files, const ScenarioFlags& flags,
                              study::Leftovers leftovers) {
  try {
    study::Scenario scenario = study::parse_scenario(tree, files, leftovers);
    if (leftovers == study::Leftovers::ignore && flags.change_it()) {
      refuse_lost_flags(tree, files, flags);
    }
    return scenario;
  } catch (const InputError& error) {
    blame_flag(error, tree, flags);
    throw;
  }
}

// A plan that cannot be made is found by the planner itself, a method that cannot time an exchange
// by its evaluator.
study::Result run_scenario(const study::Scenario& scenario, const io::Json& tree,
                           const ScenarioFlags& flags, std::int64_t replications) {
  try {
    return study::run_replications(scenario, replications);
  } catch (const UsageError& error) {
    blame(error.what(), "/communication/schedule", tree, flags);
  } catch (const SimulationError& error) {
    if (!scenario.method || !runs_by_another_method(scenario)) {
      throw;
    }
    blame(error.what(), "/method", tree, flags);
  }
}

CLI::Option* add_over_flag(CLI::App& app, ScenarioFlags& flags) {
  return add_value(
             app, "--over", flags.over, "POINTER=VALUES",
             "values to vary, e.g. /cluster/nodes=4,8,16 or 4:64:x2; numbers may carry units, "
             "bare ones are in the SI unit of the key; repeatable, all combinations, the first "
             "varies slowest")
      ->allow_extra_args(false);
}

// In the order typed, which is the order in which axes vary.
std::vector<study::Axis> parse_over_flags(const ScenarioFlags& flags) {
  return base::collected<study::Axis>(flags.over, [](const std::string& text) {
    return of_flag("--over ", [&] { return study::parse_over(text); });
  });
}

// An axis given by hand can hold a value that no scenario takes, which is found when a point is
// parsed. The first problem is the flag's if it lies at or below the pointer of an axis, in the
// scenario itself: a file that the scenario names has pointers of its own.
void rethrow_for_flags(const InputError& error, const io::Json& scenario,
                       const ScenarioFlags& flags) {
  const base::Problem& problem = error.problems().front();
  for (const std::string& text : flags.over) {
    const std::string pointer = text.substr(0, text.find('='));
    if (is_at_or_below(problem.where, pointer) &&
        (problem.file == scenario.file() || problem.file.empty())) {
      throw UsageError("--over " + base::shown_value(text, 80) + ": " + problem.message);
    }
  }
  blame_flag(error, scenario, flags);
  throw InputError(error);
}

study::ProgramFile load_program(const io::Json& tree, study::Files& files,
                                const ScenarioFlags& flags, int runs, const Common& common) {
  study::ProgramFile file =
      of_flags(tree, flags, [&] { return study::parse_program(tree, files); });
  begin_work(study::estimated_seconds(file) * runs, flags, common);
  return file;
}

ProgramInput read_program(const ScenarioFlags& flags, study::Files& files, int runs,
                          const Common& common) {
  ProgramInput input;
  input.tree = read_scenario_tree(flags, files, common);
  if (study::is_program(input.tree)) {
    input.file = load_program(input.tree, files, flags, runs, common);
    return input;
  }
  const auto leftovers = flags.point.empty() ? study::Leftovers::refuse : study::Leftovers::ignore;
  input.scenario = load_scenario(input.tree, files, flags, leftovers);
  if (const std::string reason = study::why_no_program(*input.scenario); !reason.empty()) {
    throw InputError(flags.file, "", reason);
  }
  begin_work(study::estimated_seconds(*input.scenario) * runs, flags, common);
  try {
    study::ExplainableScenario made = study::explainable(study::deciding(*input.scenario));
    input.file = std::move(made.file);
    input.labels = std::move(made.labels);
  } catch (const SimulationError&) {
    (void)run_scenario(*input.scenario, input.tree, flags);
    throw;
  }
  return input;
}

} // namespace stepsim::cli
