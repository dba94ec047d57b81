#include "cli/text/answer_texts.hpp"

namespace stepsim::cli {

std::string conditions_text(const study::Scenario& scenario) {
  if (!scenario.nominal && scenario.communication.has_servers() &&
      scenario.cluster.gpus_per_node > 1) {
    return "ideal: nothing is lost, and each GPU pushes for itself; under typical conditions a "
           "machine pushes once";
  }
  if (!scenario.nominal) {
    return "ideal: nothing is lost; real steps are longer (docs/accuracy.md)";
  }
  const study::Nominal& nominal = *scenario.nominal;
  std::vector<std::string> losses;
  if (const double more = scenario.training.sync.value - nominal.training.sync.value; more > 0) {
    losses.push_back("a message costs " + base::readable_seconds(more) + " more");
  }
  const double longer =
      scenario.workload.forward().value / std::max(1e-300, nominal.workload.forward().value);
  const bool is_longer = base::comparable(longer) != 1;
  if (is_longer) {
    losses.push_back("computing takes " + base::significant(longer) + " times as long");
  }
  if (const double beside = scenario.training.overlap.compute.front(); beside != 1) {
    losses.push_back(
        (is_longer ? "and beside an exchange " : "computing beside an exchange takes ") +
        base::significant(beside) + (is_longer ? " times that" : " times as long"));
  }
  const auto& outer = scenario.training.local.outer_network;
  const auto& rated = nominal.training.local.outer_network;
  if (outer && rated && outer->bandwidth_Bps < rated->bandwidth_Bps) {
    losses.push_back("outer exchanges reach " +
                     base::percent(*outer->bandwidth_Bps / *rated->bandwidth_Bps, 4) +
                     " of the rate of their network");
  }
  return "typical: " + (losses.empty() ? "computing is as measured" : base::listed(losses));
}

std::string measured_text(const study::MeasuredTotal& total) {
  const std::string at =
      (total.at.empty() ? "" : " with ") + base::listed(total.at, base::printable);
  return "one step of " + base::readable_seconds(total.measured_s) + at + ", predicted " +
         base::readable_seconds(total.predicted_s) + ": " +
         base::readable_seconds(total.step_s, total.band()) + " here";
}

std::string part_text(std::string_view factor) {
  const auto known = study::kFactors.find(factor);
  return known ? std::string(factor) + " (" + std::string(study::meaning(*known)) + ")"
         : factor == study::kEstimateOfInterval ? std::string("the estimate of computing")
         : factor == study::kLibraryOfInterval  ? std::string("the model of the library")
         : factor == study::kMeanOfInterval     ? std::string("the mean of random times")
         : factor == study::kRingOfInterval     ? std::string("ring_Bps of the node type")
         : factor == study::kCardOfInterval     ? std::string("nic_Bps of the node type")
                                                : std::string("noise between equal runs");
}

std::string interval_text(const study::Summary& summary, std::string_view to_measure) {
  return summary.interval_parts.empty()
             ? "of the mean of random times"
             : part_text(summary.interval_parts.front().factor) +
                   (to_measure.empty() ? "" : "; measure " + std::string(to_measure));
}

std::string estimate_text(const study::Scenario& scenario, const study::Summary& summary) {
  const layers::GpuEstimate& estimate = *scenario.workload_source.profile.estimate;
  const std::string text = "estimated for " + std::string(estimate.gpu->name) + " in " +
                           std::string(layers::kPrecisions[estimate.precision]) +
                           (estimate.measured                       ? ", scaled to a measured step"
                            : scenario.workload.interval->validated ? ""
                                                                    : ", unvalidated");
  return scenario.workload.interval->low == scenario.workload.interval->high
             ? text
             : text + ": " + base::significant(*summary.compute_low_s * 1e3) + " to " +
                   base::significant(*summary.compute_high_s * 1e3) + " ms";
}

} // namespace stepsim::cli
