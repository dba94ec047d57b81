#include "cli/commands/program_input.hpp"

#include <utility>

#include "base/error.hpp"
#include "run/run.hpp"
#include "run/scenario_program.hpp"
#include "run/work_estimate.hpp"
#include "study/scenario_explained.hpp"

namespace stepsim::cli {

study::ProgramFile load_program(const io::Json& tree, study::Files& files,
                                const ScenarioFlags& flags) {
  try {
    return study::parse_program(tree, files);
  } catch (const InputError& error) {
    blame_flag(error, tree, flags);
    throw;
  }
}

ProgramInput read_program(const std::string& file, study::Files& files, const ScenarioFlags& flags,
                          int runs, const Common& common) {
  ProgramInput input;
  input.tree = read_scenario_tree(file, flags, files.data_folder(), common);
  if (study::is_program(input.tree)) {
    input.file = load_program(input.tree, files, flags);
    return input;
  }
  const auto leftovers = flags.point.empty() ? study::Leftovers::refuse : study::Leftovers::ignore;
  input.scenario = load_scenario(input.tree, files, flags, leftovers);
  if (const std::string reason = study::why_no_program(*input.scenario); !reason.empty()) {
    throw InputError(file, "", reason);
  }
  const double estimate_s = study::estimated_seconds(*input.scenario) * static_cast<double>(runs);
  study::refuse_long_work(estimate_s, max_seconds(flags));
  common.work.estimate(estimate_s);
  study::ExplainableScenario made = study::explainable(study::deciding(*input.scenario));
  input.file = std::move(made.file);
  input.labels = std::move(made.labels);
  return input;
}

} // namespace stepsim::cli
