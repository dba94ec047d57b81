// Changes are tried, not judged beforehand: the reader of scenarios knows which keys have a meaning
// together, and a change that it refuses is left out.
#include "study/step_changes.hpp"

#include "document/json_text.hpp"
#include "run/run.hpp"
#include "run/work_estimate.hpp"
#include "scenario/scenario_conditions.hpp"
#include "study/sweep/ranking.hpp"
#include "study/trace_study.hpp"

namespace stepsim::study {

namespace {

// Changes below this share of a step are none.
constexpr double kSameStep = 1e-6;
// A change whose run is estimated to take longer is left out, s.
constexpr double kMostSeconds = 10;
// The intervals of changes are left out where that of the step is estimated to take longer, s.
constexpr double kMostInterval = 1;

// Whether the change is a second communicator for which the links have no room.
bool lacks_room(const std::vector<std::string>& set, const Result& result) {
  const auto begins = [](std::string_view word) {
    return [word](const std::string& text) { return text.starts_with(word); };
  };
  return std::ranges::any_of(set, begins("/training/sharding/communicators=")) &&
         std::ranges::any_of(result.warnings, begins("shared_links:"));
}

} // namespace

std::optional<ChangedStep> changed_step(const io::Json& tree, std::vector<std::string> set,
                                        Files& files, bool with_parts, bool* is_slow) {
  try {
    io::Json changed = tree;
    for (const std::string& text : set) {
      auto [pointer, value] = parse_set(text);
      io::assign(changed, pointer, std::move(value));
      changed = with_short_forms_expanded(std::move(changed));
    }
    std::vector<MeaninglessKey> dropped;
    const Scenario scenario = without_leftovers(
        changed, files, [](std::string_view) { return true; }, dropped);
    for (const MeaninglessKey& key : dropped) {
      set.push_back(key.pointer + "=null");
    }
    if (estimated_seconds(scenario) > kMostSeconds) {
      if (is_slow != nullptr) {
        *is_slow = true;
      }
      return std::nullopt;
    }
    const bool plain = collectives::row(scenario.communication.compression.method).kind !=
                       collectives::CompressionKind::sparse;
    if (is_typical(scenario) && plain && !with_parts) { // without its interval
      return ChangedStep{.step_s = period_of(scenario), .set = std::move(set)};
    }
    Result result = run(scenario);
    if (lacks_room(set, result)) {
      return std::nullopt;
    }
    return ChangedStep{.step_s = step_of(result.summary),
                       .set = std::move(set),
                       .parts = std::move(result.summary.interval_parts),
                       .exceeds_memory = !result.summary.memory_fits.value_or(true)};
  } catch (const InputError&) {
    return std::nullopt;
  } catch (const UsageError&) {
    return std::nullopt;
  } catch (const SimulationError&) {
    return std::nullopt;
  } catch (const std::bad_optional_access&) {
    return std::nullopt;
  }
}

std::vector<WhatIf> what_if_lines(const io::Json& tree, const Scenario& scenario, double step_s,
                                  Files& files, const WhatIfOptions& options) {
  std::vector<WhatIf> lines;
  std::vector<Change> changes = all_changes(tree, nominal_of(scenario));
  std::erase_if(changes, [&](const Change& change) {
    return !options.kinds.empty() &&
           std::ranges::find(options.kinds, change.kind) == options.kinds.end();
  });
  // An interval takes a dozen runs or more, which are long where messages are simulated.
  const bool is_long = simulates_messages(scenario) || estimated_seconds(scenario) > kMostInterval;
  const std::span<const IntervalPart> parts =
      is_long || !is_typical(scenario) ? std::span<const IntervalPart>() : options.parts;
  const auto total = std::ssize(changes);
  std::int64_t done = 0;
  std::string slow;
  for (Change& change : changes) {
    if (options.progress) {
      options.progress(done++, total);
    }
    bool is_slow = false;
    std::optional<ChangedStep> step =
        changed_step(tree, std::move(change.set), files,
                     !parts.empty() || change.kind == ChangeKind::sharding, &is_slow);
    if (is_slow) {
      slow += (slow.empty() ? "" : ", ") + change.name;
    }
    if (!step || (step->exceeds_memory && !options.exceeds_memory) || step_s <= 0 ||
        std::abs(step->step_s - step_s) <= kSameStep * step_s) {
      continue;
    }
    WhatIf line{std::move(change.name), std::move(step->set), step->step_s,
                1 - step->step_s / step_s, change.kind};
    if (const auto paired =
            paired_difference(step->parts, parts, std::log(step->step_s / step_s))) {
      line.gain_range = paired->range_of_gain();
      line.is_sure = paired->is_stated();
    }
    lines.push_back(std::move(line));
  }
  if (!slow.empty() && options.warnings != nullptr) {
    options.warnings->push_back("not tried, because each takes more than " +
                                base::shortest(kMostSeconds) + " s: " + slow);
  }
  sort_by_gain(lines);
  return lines;
}

namespace {

// A slow host, as far as the times of the trace's layers leave it out.
void add_late_launches(const io::Json& tree, const Scenario& scenario, Files& files,
                       std::vector<Change>& causes) {
  const io::Json* name = io::resolve(tree, "/workload/trace");
  if (name == nullptr || !name->is_string() || scenario.training.wait.value > 0) {
    return;
  }
  const layers::Trace& trace = files.trace(*name).first;
  const std::vector<JobStep> steps = timed_steps(trace);
  if (trace.time_scale == 1 && !steps.empty() && !has_forward_alone(trace)) {
    causes.push_back({"kernels that the host launches late, as in the trace",
                      {"/training/wait_s=" + base::shortest(device_times(steps).host_s)}});
  }
}

} // namespace

Measured measured_causes(const io::Json& tree, const Scenario& scenario, double step_s,
                         double measured_s, Files& files) {
  const double gap = measured_s - step_s;
  Measured measured{.step_s = measured_s, .gap_s = gap, .unexplained_s = gap};
  if (!(measured.gap_s > 0)) {
    return measured;
  }
  double explained = 0;
  std::vector<Change> causes = all_causes(scenario);
  add_late_launches(tree, scenario, files, causes);
  for (Change& cause : causes) {
    std::optional<ChangedStep> step = changed_step(tree, std::move(cause.set), files);
    if (step && step->step_s - step_s > kSameStep * step_s) {
      measured.causes.push_back(
          {std::move(cause.name), std::move(step->set), step->step_s, step->step_s - step_s});
      explained += step->step_s - step_s;
    }
  }
  std::ranges::stable_sort(measured.causes, std::ranges::greater(), &Cause::explains_s);
  measured.unexplained_s = std::max(0.0, measured.gap_s - explained);
  return measured;
}

void sort_by_gain(std::vector<WhatIf>& changes) {
  std::ranges::stable_sort(changes, {},
                           [](const WhatIf& each) { return base::comparable(each.step_s); });
}

} // namespace stepsim::study
