#include "cli/text/run_text.hpp"

#include "base/number_text.hpp"
#include "base/quantity.hpp"
#include "cli/shell/table.hpp"
#include "scenario/scenario_exchange.hpp"
#include "scenario/scenario_local.hpp"
#include "scenario/scenario_schedule.hpp"

namespace stepsim::cli {

std::string rounds_text(const study::Result& result) {
  const study::Training& training = result.scenario.training;
  if (!study::trains_in_rounds(training)) {
    return "";
  }
  const study::LocalTraining& local = training.local;
  return std::string(study::kTrainingAlgorithms[training.algorithm]) + ", rounds of " +
         base::counted(local.local_steps, "step") +
         (study::has_islands(training)
              ? " inside islands of " + std::to_string(result.scenario.cluster.gpus_per_node)
              : "") +
         (local.fragments > 1 ? ", " + base::counted(local.fragments, "fragment") : "") +
         (local.overlap_steps > 0
              ? ", " + base::counted(local.overlap_steps, "step") + " overlapped"
              : "");
}

std::string outer_exchange_text(const study::Result& result) {
  const study::Scenario& scenario = result.scenario;
  const study::LocalTraining& local = scenario.training.local;
  const bool islands = study::has_islands(scenario.training);
  const auto messages = static_cast<std::int64_t>(local.outer_gate == programs::OuterGate::layer
                                                      ? scenario.workload.layers.size()
                                                      : static_cast<std::size_t>(local.fragments));
  const double bytes = local.outer_value_bytes * static_cast<double>(scenario.workload.values());
  const bool averages = scenario.training.algorithm != study::TrainingAlgorithm::diloco;
  const bool servers = study::needs_servers(scenario.training.algorithm);
  return std::string(study::collective_word(scenario.communication)) +
         (servers ? ", push and pull of " : " allreduce of ") +
         (averages ? "parameters" : "outer gradients") +
         (local.outer_compression.method == study::CodecMethod::none
              ? ""
              : " (" + std::string(study::kCodecMethods[local.outer_compression.method]) + ")") +
         ", " + base::counted(messages, "message") + ", " + base::readable_bytes(bytes) +
         (islands ? "; in islands schedule " + study::schedule_name(scenario.communication) : "");
}

std::string round_times_text(const study::Result& result) {
  const study::Summary& summary = result.summary;
  return base::readable_seconds(*summary.period_s) + ", outer exchanges " +
         base::readable_seconds(*summary.outer_communication_s) + ", utilization " +
         percent_cell(summary.utilization);
}

} // namespace stepsim::cli
