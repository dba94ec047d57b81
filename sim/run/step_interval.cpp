#include "run/run_figures.hpp"

#include <ranges>

#include "run/planned_messages.hpp"
#include "run/program_memory.hpp"
#include "run/run.hpp"
#include "scenario/scenario_conditions.hpp"
#include "scenario/scenario_library.hpp"

namespace stepsim::study {

namespace {

constexpr double kLeast = 1e-6; // of the step: the low end of a mean may lie below 0

// In standard deviations of the logarithm.
double deviation_of(double seconds, double step_s) {
  return std::log(std::max(seconds / step_s, kLeast)) / kQuantile80;
}

} // namespace

// What makes the step longer or shorter adds up in squares. The model of a library may be off in
// the same direction for all messages.
void fill_step_interval(const Scenario& scenario, ProgramMemory* memory, Summary& summary) {
  const double middle = step_of(summary);
  if (!has_uncertain_parts(scenario) || !(middle > 0)) {
    return;
  }
  double up = 0;
  double down = 0;
  std::vector<IntervalPart> parts;
  const auto add = [&](std::string_view name, double more_s, double less_s) {
    const double one = std::log(more_s / middle);
    const double other = std::log(less_s / middle);
    if (!std::isfinite(one) || !std::isfinite(other)) {
      throw SimulationError(std::string(kBeyondNumbers));
    }
    const double longer = std::max({0.0, one, other});
    const double shorter = std::min({0.0, one, other});
    up += longer * longer;
    down += shorter * shorter;
    parts.push_back({.factor = name, .share = longer * longer, .at_high = one, .at_low = other});
  };
  std::vector<ProgramMemory> only; // one at a time
  const auto run_of = [&](std::size_t place) -> ProgramMemory& {
    if (memory == nullptr) {
      only.clear();
      return only.emplace_back();
    }
    memory->moved.resize(2 * (kFactorCount + 1));
    return memory->moved[place];
  };
  if (const auto band = band_of(summary)) { // of the mean of random times
    add(kMeanOfInterval, middle * std::exp(deviation_of(band->high, middle)),
        middle * std::exp(deviation_of(band->low, middle)));
  }
  if (is_typical(scenario)) {
    up += kRestSpread * kRestSpread;
    down += kRestSpread * kRestSpread;
    parts.push_back({.factor = kRestOfInterval, .share = kRestSpread * kRestSpread});
  }
  // The last factors leave the cost of messages as it is in the run itself, whose plans then hold.
  std::array<std::pair<double, double>, kFactorCount> sides_s;
  const auto counts = [&](Factor factor) {
    return scenario.conditions.factors[static_cast<std::size_t>(factor)].tau > 0;
  };
  for (const Factor factor : scenario.conditions.used | std::views::reverse) {
    const auto place = static_cast<std::size_t>(factor);
    const auto moved_s = [&](std::size_t kept, double deviations) {
      ProgramMemory& run = run_of(kept);
      if (!run.own_scenario) {
        run.own_scenario = scenario;
      }
      if (!move_factor(scenario, factor, deviations, *run.own_scenario)) {
        return middle;
      }
      const bool as_fast = run.own_scenario->conditions.computing == scenario.conditions.computing;
      run.other_step = as_fast && memory != nullptr ? &memory->own_step : nullptr;
      return period_of(*run.own_scenario, &run, memory);
    };
    if (counts(factor)) {
      sides_s[place].first = moved_s(2 * place, 1);
      sides_s[place].second = moved_s(2 * place + 1, -1);
    }
  }
  for (const Factor factor : scenario.conditions.used) {
    const auto& [more_s, less_s] = sides_s[static_cast<std::size_t>(factor)];
    if (counts(factor)) {
      add(kFactors[factor], more_s, less_s);
    }
  }
  if (const auto& estimate = scenario.workload.interval; estimate && estimate->low > 0) {
    const auto scaled_s = [&](std::size_t kept, double factor) {
      ProgramMemory& run = run_of(kept);
      run.own_scenario = with_scaled_computing(scenario, std::pow(factor, 1 / kQuantile80));
      return period_of(*run.own_scenario, &run, memory);
    };
    add(kEstimateOfInterval, scaled_s(2 * kFactorCount, estimate->high),
        scaled_s(2 * kFactorCount + 1, estimate->low));
  }
  if (const auto& question = scenario.communication.question) {
    const auto add_moved = [&](std::string_view name, const auto& move) {
      const auto moved_s = [&](double deviations) {
        nccl::LibraryQuestion moved = *question;
        move(moved, deviations);
        return period_of(with_question(scenario, moved));
      };
      add(name, moved_s(1), moved_s(-1));
    };
    add_moved(kLibraryOfInterval, [](nccl::LibraryQuestion& moved, double deviations) {
      moved.deviations = deviations;
    });
    using nccl::NodeType;
    for (const auto& [name, rate, origin] :
         {std::tuple{kRingOfInterval, &NodeType::ring_Bps, &NodeType::ring_origin},
          std::tuple{kCardOfInterval, &NodeType::nic_Bps, &NodeType::nic_origin}}) {
      // A calibration was fitted with the rates as they are.
      if ((question->node.*origin).deviation > 0 && question->calibration == nullptr) {
        add_moved(name, [rate, origin](nccl::LibraryQuestion& moved, double deviations) {
          moved.node.*rate *= std::exp(deviations * (moved.node.*origin).deviation);
        });
      }
    }
  }
  for (IntervalPart& part : parts) {
    part.share /= up > 0 ? up : 1;
  }
  std::ranges::stable_sort(parts, std::ranges::greater{}, &IntervalPart::share);
  summary.interval_parts = std::move(parts);
  summary.iteration_time_low_s = middle * std::exp(-kQuantile80 * std::sqrt(down));
  summary.iteration_time_high_s = middle * std::exp(kQuantile80 * std::sqrt(up));
  summary.interval_level = kLevel80;
}

void replace_mean_in_interval(const base::Interval& mean, double first_s, Summary& summary) {
  const double step = step_of(summary);
  const double old_up = std::pow(deviation_of(*summary.iteration_time_high_s, first_s), 2);
  double up = old_up;
  double down = std::pow(deviation_of(*summary.iteration_time_low_s, first_s), 2);
  std::vector<IntervalPart>& parts = summary.interval_parts;
  if (const auto part = std::ranges::find(parts, kMeanOfInterval, &IntervalPart::factor);
      part != parts.end()) {
    const IntervalPart old = *part;
    part->at_high = deviation_of(mean.high, step);
    part->at_low = deviation_of(mean.low, step);
    up = std::max(0.0, up * (1 - old.share)) + part->at_high * part->at_high;
    down = std::max(0.0, down - old.at_low * old.at_low) + part->at_low * part->at_low;
    for (IntervalPart& each : parts) {
      each.share *= up > 0 ? old_up / up : 0;
    }
    part->share = up > 0 ? part->at_high * part->at_high / up : 0;
    std::ranges::stable_sort(parts, std::ranges::greater{}, &IntervalPart::share);
  }
  summary.iteration_time_low_s = step * std::exp(-kQuantile80 * std::sqrt(down));
  summary.iteration_time_high_s = step * std::exp(kQuantile80 * std::sqrt(up));
}

} // namespace stepsim::study
