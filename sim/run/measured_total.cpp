#include "run/measured_total.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "scenario/scenario_conditions.hpp"

namespace stepsim::study {

namespace {

constexpr double kRest =
    0.04; // of the logarithm, between a measured step and another of its series

// A part of the other run with the same name; without one nothing moves.
IntervalPart part_of(const Summary& summary, std::string_view factor) {
  const auto found = std::ranges::find(summary.interval_parts, factor, &IntervalPart::factor);
  return found == summary.interval_parts.end() ? IntervalPart{.factor = factor} : *found;
}

void set_interval_of(const Summary& asked, const Summary& measured, MeasuredTotal& total) {
  double up = kRest * kRest;
  double down = kRest * kRest;
  const auto add = [&](const IntervalPart& x, const IntervalPart& y) {
    const double high = x.at_high - y.at_high;
    const double low = x.at_low - y.at_low;
    const double longer = std::max({0.0, high, low});
    const double shorter = std::min({0.0, high, low});
    up += longer * longer;
    down += shorter * shorter;
  };
  for (const IntervalPart& part : asked.interval_parts) {
    add(part, part_of(measured, part.factor));
  }
  for (const IntervalPart& part : measured.interval_parts) {
    if (std::ranges::find(asked.interval_parts, part.factor, &IntervalPart::factor) ==
        asked.interval_parts.end()) {
      add({.factor = part.factor}, part);
    }
  }
  total.low_s = total.step_s * std::exp(-kQuantile80 * std::sqrt(down));
  total.high_s = total.step_s * std::exp(kQuantile80 * std::sqrt(up));
}

} // namespace

MeasuredTotal corrected_by(const Result& asked, const Result& measured, double measured_s) {
  if ((asked.scenario.cluster.nodes > 1) != (measured.scenario.cluster.nodes > 1)) {
    throw UsageError(
        "--measured-total: a step on one machine says too little about one on several; "
        "give it to fit-conditions");
  }
  const double predicted_s = *measured.summary.iteration_time_s;
  MeasuredTotal total{.measured_s = measured_s,
                      .predicted_s = predicted_s,
                      .step_s = *asked.summary.iteration_time_s * measured_s / predicted_s};
  if (is_typical(asked.scenario) && is_typical(measured.scenario)) {
    set_interval_of(asked.summary, measured.summary, total);
  }
  return total;
}

} // namespace stepsim::study
