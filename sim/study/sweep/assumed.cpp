#include "study/sweep/assumed.hpp"

#include <ranges>

#include "document/json_text.hpp"
#include "run/collective_file.hpp"
#include "scenario/rules.hpp"
#include "study/sweep/rows.hpp"
#include "study/sweep/sweep_point.hpp"

namespace stepsim::study {

namespace {

// Empty where the scenario of a point cannot be parsed: the row of the point says so.
std::optional<Scenario> parsed(const io::Json& tree, Files& files) {
  try {
    return parse_scenario(tree, files, Leftovers::ignore);
  } catch (const InputError&) {
    return std::nullopt;
  }
}

std::vector<DefaultValue> decisive_defaults(const io::Json& tree, Files& files) {
  const std::optional<Scenario> scenario = parsed(tree, files);
  std::vector<DefaultValue> defaults =
      scenario ? defaults_that_decide(tree, *scenario) : std::vector<DefaultValue>();
  std::erase_if(defaults, [](const DefaultValue& each) { return !each.decisive; });
  return defaults;
}

// Points that stand for a sweep.
constexpr std::int64_t kSome = 32;

// The scenario of point `i` of `looked` points that are evenly spread over the sweep.
io::Json spread_point(const Sweep& sweep, std::int64_t i, std::int64_t looked) {
  const std::int64_t last = sweep.grid.points() - 1;
  const bool is_last = i + 1 == looked;
  const double share = static_cast<double>(i) * static_cast<double>(last); // no overflow
  const std::int64_t point =
      is_last ? last : static_cast<std::int64_t>(share / static_cast<double>(looked - 1));
  return scenario_at(sweep.base, sweep.grid, point);
}

std::vector<io::Json> some_points(const Sweep& sweep) {
  const std::int64_t looked = std::min(sweep.grid.points(), kSome);
  return base::collected<io::Json>(std::views::iota(std::int64_t{0}, looked),
                                   [&](std::int64_t i) { return spread_point(sweep, i, looked); });
}

// Points that are read before a key is said to count at none, for one of many words of another axis
// may be what gives it a meaning: fewer if the scenario is long.
std::int64_t many_points(const Sweep& sweep) {
  constexpr std::int64_t kMany = 4096;
  constexpr std::int64_t kMostText = 10'000'000; // bytes of all of them
  const auto text = static_cast<std::int64_t>(io::compact(sweep.base).size());
  return std::min(sweep.grid.points(), std::clamp(kMostText / (text + 1), kSome, kMany));
}

bool is_varied(const Sweep& sweep, std::string_view pointer) {
  return std::ranges::any_of(sweep.grid.axes, [&](const Axis& axis) {
    return pointer == axis.pointer || pointer.starts_with(axis.pointer + "/");
  });
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

// A value may be ignored where the others of its axis are not: two network cards of a node under a
// collective that uses one. All points of a small sweep are read.
void require_effect_of_values(const Sweep& sweep, Files& files) {
  const Grid& grid = sweep.grid;
  if (grid.points() > kSome) {
    return;
  }
  std::map<std::pair<std::size_t, std::string>, std::string> reasons; // [axis, value]; "" = counts
  for (std::int64_t point = 0; point < grid.points(); ++point) {
    const io::Json tree = scenario_at(sweep.base, grid, point);
    const std::vector<std::size_t> position = grid.position(point);
    for (std::size_t a = 0; a < position.size(); ++a) {
      const auto [known, is_new] =
          reasons.try_emplace({a, io::compact(grid.axes[a].values[position[a]])});
      if (is_new || !known->second.empty()) {
        known->second = why_ignored(tree, grid.axes[a].pointer, files);
      }
    }
  }
  for (const auto& [value, reason] : reasons) {
    if (!reason.empty()) {
      throw UsageError(reason);
    }
  }
}

// Why keys of the scenario are ignored, each reason once.
struct LeftOut {
  std::vector<std::string> by_some; // points, by a rule between two keys
  std::vector<std::string> by_all;  // points
};

LeftOut left_out_of(const Sweep& sweep, Files& files) {
  LeftOut out;
  if (is_collective(sweep.base)) {
    return out;
  }
  const auto add = [&](const std::string& pointer, const std::string& why,
                       std::vector<std::string>& reasons) {
    const std::string name = pointer.substr(pointer.rfind('/') + 1);
    const std::string reason = why.starts_with(name) ? why : name + " " + why;
    if (!is_varied(sweep, pointer) && std::ranges::find(reasons, reason) == reasons.end()) {
      reasons.push_back(reason);
    }
  };
  std::optional<std::vector<base::Problem>> by_all;
  for (const io::Json& tree : some_points(sweep)) {
    const std::optional<Scenario> scenario = parsed(tree, files);
    if (!scenario) {
      continue;
    }
    for (const MeaninglessKey& key : scenario->left_out) {
      add(key.pointer, key.reason, out.by_some);
    }
    const std::vector<base::Problem> here = problems_of(tree, files, Leftovers::refuse);
    by_all = by_all.value_or(here);
    std::erase_if(*by_all, [&](const base::Problem& each) {
      return std::ranges::find(here, each.where, &base::Problem::where) == here.end();
    });
  }
  for (const base::Problem& each : by_all.value_or(std::vector<base::Problem>())) {
    add(each.where, each.message, out.by_all);
  }
  return out;
}

} // namespace

void require_effect(const Sweep& sweep, Files& files) {
  if (is_collective(sweep.base)) {
    return;
  }
  const std::vector<io::Json> some = some_points(sweep);
  for (const Axis& axis : sweep.grid.axes) {
    std::string reason;
    const auto ignored = [&](const io::Json& tree) {
      reason = why_ignored(tree, axis.pointer, files);
      return !reason.empty();
    };
    bool at_all = std::ranges::all_of(some, ignored);
    const std::int64_t looked = at_all ? many_points(sweep) : 0;
    for (std::int64_t i = 0; at_all && i < looked; ++i) {
      at_all = ignored(spread_point(sweep, i, looked));
    }
    if (at_all) {
      throw UsageError(reason);
    }
  }
  require_effect_of_values(sweep, files);
}

std::string left_out_text(const Sweep& sweep, Files& files) {
  return base::listed(left_out_of(sweep, files).by_some, {}, "; ");
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
  if (!different.empty()) {
    text += (text.empty() ? "by point: " : "; by point: ") + base::listed(different);
  }
  return text;
}

std::vector<std::string> notes_of(const Sweep& sweep, Files& files, bool of_each_point) {
  std::vector<std::string> notes;
  if (std::string text = assumed_text(sweep, files); !text.empty()) {
    notes.push_back("assumed: " + std::move(text));
  }
  LeftOut left_out = left_out_of(sweep, files);
  if (of_each_point) {
    append_each_once(left_out.by_all, left_out.by_some);
  }
  if (!left_out.by_all.empty()) {
    notes.push_back("left out: " + base::listed(left_out.by_all, {}, "; "));
  }
  return notes;
}

std::vector<base::Problem> problems_of(const io::Json& tree, Files& files, Leftovers leftovers) {
  try {
    (void)parse_scenario(tree, files, leftovers);
    return {};
  } catch (const InputError& error) {
    return error.problems();
  }
}

} // namespace stepsim::study
