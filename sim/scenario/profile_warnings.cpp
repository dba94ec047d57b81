#include "scenario/scenario_parts.hpp"

#include "links/profile/profile_curve.hpp"

namespace stepsim::study {

// Density matters to the ranges of a profile only where something is selected.
void add_profile_warnings(Scenario& scenario) {
  renew_name(scenario.cluster.network.calibration, scenario.warnings);
  renew_name(scenario.cluster.intra_calibration, scenario.warnings);
  if (!scenario.cluster.network.profile) {
    return;
  }
  const links::NetworkProfile& profile = *scenario.cluster.network.profile;
  const collectives::Compression& compression = scenario.communication.compression;
  const bool sparse =
      collectives::row(compression.method).kind == collectives::CompressionKind::sparse;
  const std::int64_t ranks = scenario.cluster.ranks();
  if (auto failed = links::grade_warning(profile)) {
    scenario.warnings.insert(scenario.warnings.begin(), std::move(*failed)); // the first to be read
  }
  if (profile.label == links::ProfileLabel::calibrated && !profile.note.empty()) {
    scenario.warnings.push_back(profile.name + ": " + profile.note);
  }
  const auto gamma = links::dense_inflation_warning(profile, ranks);
  if (gamma && !sparse) {
    scenario.warnings.push_back(*gamma);
  }
  for (std::string& text : links::outside_warnings(profile, ranks, scenario.cluster.gpus_per_node,
                                                   sparse ? compression.density : std::nullopt)) {
    scenario.warnings.push_back(std::move(text));
  }
}

} // namespace stepsim::study
