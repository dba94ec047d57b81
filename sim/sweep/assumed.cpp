#include "sweep/assumed.hpp"

#include <algorithm>
#include <vector>

#include "base/error.hpp"
#include "collective/collective_file.hpp"
#include "scenario/defaults.hpp"
#include "scenario/rules.hpp"
#include "scenario/scenario.hpp"
#include "sweep/grid.hpp"
#include "sweep/sweep_point.hpp"

namespace stepsim::study {

namespace {

std::vector<DefaultValue> decisive_defaults(const io::Json& tree, Files& files) {
  std::vector<DefaultValue> defaults;
  try {
    defaults = defaults_that_decide(tree, parse_scenario(tree, files, Leftovers::ignore));
  } catch (const InputError&) { // the row of the point says so
  }
  std::erase_if(defaults, [](const DefaultValue& each) { return !each.decisive; });
  return defaults;
}

// The scenarios of at most 32 points, evenly spread.
std::vector<io::Json> some_points(const Sweep& sweep) {
  constexpr std::int64_t kMost = 32;
  const std::int64_t points = sweep.grid.points();
  const std::int64_t looked = std::min(points, kMost);
  std::vector<io::Json> trees;
  for (std::int64_t i = 0; i < looked; ++i) {
    const std::int64_t point = looked > 1 ? i * (points - 1) / (looked - 1) : 0;
    trees.push_back(scenario_at(sweep.base, sweep.grid, point));
  }
  return trees;
}

bool is_varied(const Sweep& sweep, std::string_view pointer) {
  return std::ranges::any_of(sweep.grid.axes, [&](const Axis& axis) {
    return pointer == axis.pointer || pointer.starts_with(axis.pointer + "/");
  });
}

std::vector<base::Problem> problems_of(const io::Json& tree, Files& files, Leftovers leftovers) {
  try {
    (void)parse_scenario(tree, files, leftovers);
    return {};
  } catch (const InputError& error) {
    return error.problems();
  }
}

// Why the key at `pointer` is ignored in a scenario; empty if it counts. A key of an object that is
// ignored is ignored with it.
std::string why_ignored(const io::Json& tree, std::string_view pointer, Files& files) {
  const std::vector<base::Problem> others = problems_of(tree, files, Leftovers::ignore);
  for (const base::Problem& each : problems_of(tree, files, Leftovers::refuse)) {
    const bool here = pointer == each.where || pointer.starts_with(each.where + "/");
    const bool other = std::ranges::any_of(others, [&](const base::Problem& known) {
      return known.where == each.where && known.message == each.message;
    });
    if (here && !other && !each.where.empty()) {
      return each.where + ": " + each.message;
    }
  }
  return "";
}

} // namespace

void require_effect(const Sweep& sweep, Files& files) {
  if (is_collective(sweep.base)) {
    return;
  }
  const std::vector<io::Json> points = some_points(sweep);
  for (const Axis& axis : sweep.grid.axes) {
    std::string reason;
    for (const io::Json& tree : points) {
      reason = why_ignored(tree, axis.pointer, files);
      if (reason.empty()) {
        break;
      }
    }
    if (!reason.empty()) {
      throw UsageError(reason);
    }
  }
}

std::string left_out_text(const Sweep& sweep, Files& files) {
  if (is_collective(sweep.base)) {
    return "";
  }
  std::vector<std::string> reasons;
  for (const io::Json& tree : some_points(sweep)) {
    try {
      for (const MeaninglessKey& key : parse_scenario(tree, files, Leftovers::ignore).left_out) {
        const std::string name = key.pointer.substr(key.pointer.rfind('/') + 1);
        const std::string reason =
            key.reason.starts_with(name) ? key.reason : name + " " + key.reason;
        if (!is_varied(sweep, key.pointer) && std::ranges::find(reasons, reason) == reasons.end()) {
          reasons.push_back(reason);
        }
      }
    } catch (const InputError&) { // the row of the point says so
    }
  }
  std::string text;
  for (const std::string& reason : reasons) {
    text += (text.empty() ? "" : "; ") + reason;
  }
  return text;
}

std::string assumed_text(const Sweep& sweep, Files& files) {
  if (is_collective(sweep.base)) {
    return "";
  }
  std::vector<DefaultValue> same;
  std::vector<std::string> different; // last tokens
  for (const io::Json& tree : some_points(sweep)) {
    for (DefaultValue& each : decisive_defaults(tree, files)) {
      const auto known = std::ranges::find(same, each.pointer, &DefaultValue::pointer);
      const std::string key = each.pointer.substr(each.pointer.rfind('/') + 1);
      if (std::ranges::find(different, key) != different.end()) {
        continue;
      }
      if (known == same.end()) {
        same.push_back(std::move(each));
      } else if (known->value != each.value) {
        different.push_back(key);
        same.erase(known);
      }
    }
  }
  std::string text = defaults_text(same);
  for (const std::string& key : different) {
    text += (&key != &different.front() ? ", "
             : text.empty()             ? "by point: "
                                        : "; by point: ") +
            key;
  }
  return text;
}

std::string assumed_text(const io::Json& scenario, Files& files) {
  return defaults_text(decisive_defaults(scenario, files));
}

} // namespace stepsim::study
