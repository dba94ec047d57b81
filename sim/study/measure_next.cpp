#include "study/explained.hpp"

#include "scenario/scenario_conditions.hpp"
#include "study/fits.hpp"
#include "study/step_changes.hpp"

namespace stepsim::study {

namespace {

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
      const auto estimate =
          std::ranges::find(step->parts, kEstimateOfInterval, &IntervalPart::factor);
      if (estimate != step->parts.end()) {
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
