#include "cli/commands/finished_run.hpp"

#include "document/json_text.hpp"
#include "run/measured_exchanges.hpp"
#include "run/result_file.hpp"
#include "study/sweep/sweep_file.hpp"

namespace stepsim::cli {

study::Result finished_run(const study::Scenario& scenario, const io::Json& tree,
                           study::Files& files, const ScenarioFlags& flags,
                           std::int64_t replications) {
  study::Result result = run_scenario(scenario, tree, flags, replications);
  result.defaults = study::defaults_that_decide(tree, scenario);
  result.files = study::named_files(tree, files);
  result.measured_exchanges = study::measured_exchanges(scenario);
  if (auto warning = study::far_exchanges(scenario, result.measured_exchanges)) {
    result.warnings.push_back(std::move(*warning));
  }
  return result;
}

io::Json finished_scenario(study::Result& result, const io::Json& tree, const std::string& output,
                           study::LayerList layers) {
  io::Json scenario =
      study::with_names_relative_to(study::scenario_tree(*result.scenario, layers), output, tree);
  const io::Json* name = io::resolve(scenario, "/cluster/network/calibration");
  if (name != nullptr && name->is_string()) {
    result.scenario->cluster.network.calibration = name->as_string();
  }
  return scenario;
}

io::Json finished_tree(study::Result result, const io::Json& tree, const std::string& output) {
  io::Json scenario = finished_scenario(result, tree, output);
  io::Json out = study::result_tree(result);
  out.set("scenario", std::move(scenario));
  return out;
}

} // namespace stepsim::cli
