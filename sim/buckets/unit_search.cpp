#include "buckets/unit_search.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace stepsim::buckets {

namespace {

bool allowed(const UnitProblem& problem, const Cuts& cuts) {
  std::size_t first = 0;
  for (std::size_t u = 0; u <= cuts.size(); ++u) {
    const std::size_t end = u < cuts.size() ? cuts[u] : problem.layers.size();
    const std::size_t layers = end - first;
    std::int64_t parameters = 0;
    for (; first < end; ++first) {
      parameters += problem.layers[first].parameters;
    }
    if (!may_be_unit(problem, layers, parameters)) {
      return false;
    }
  }
  return true;
}

// One cut more, or one less.
Cuts toggled(const Cuts& cuts, std::uint32_t cut) {
  Cuts other = cuts;
  const auto place = std::ranges::lower_bound(other, cut);
  if (place != other.end() && *place == cut) {
    other.erase(place);
  } else {
    other.insert(place, cut);
  }
  return other;
}

// Fewer units first, then smaller cuts, where periods are equal.
bool better(double period, const Cuts& cuts, const UnitPlan& than) {
  if (than.period.value == kUnbounded) {
    return true;
  }
  const double limit = kEqualPeriods * than.period.value;
  if (period < than.period.value - limit || period > than.period.value + limit) {
    return period < than.period.value;
  }
  return cuts.size() != than.cuts.size() ? cuts.size() < than.cuts.size() : cuts < than.cuts;
}

UnitPlan all_divisions(const UnitProblem& problem, const PeriodOfCuts& period) {
  UnitPlan best;
  best.period = Seconds{kUnbounded};
  const std::size_t layers = problem.layers.size();
  for (std::uint64_t set = 0; set < std::uint64_t{1} << (layers - 1); ++set) {
    Cuts cuts;
    for (std::uint32_t c = 1; c < layers; ++c) {
      if ((set >> (c - 1) & 1) != 0) {
        cuts.push_back(c);
      }
    }
    if (allowed(problem, cuts)) {
      const double seconds = period(cuts);
      if (better(seconds, cuts, best)) {
        best.period = Seconds{seconds};
        best.cuts = std::move(cuts);
      }
    }
  }
  best.certified = true;
  return best;
}

std::vector<Cuts> equal_divisions(std::size_t layers) {
  std::vector<Cuts> divisions;
  for (std::size_t size = 1; size <= layers; ++size) {
    Cuts& cuts = divisions.emplace_back();
    for (std::size_t c = size; c < layers; c += size) {
      cuts.push_back(static_cast<std::uint32_t>(c));
    }
  }
  return divisions;
}

// Keeps the best divisions, best first.
void keep_best(const PeriodOfCuts& period, std::vector<Cuts>& divisions) {
  constexpr std::size_t kKept = 4;
  std::vector<std::pair<double, Cuts>> periods;
  for (Cuts& cuts : divisions) {
    const double seconds = period(cuts);
    periods.emplace_back(seconds, std::move(cuts));
  }
  std::ranges::stable_sort(periods, {}, &std::pair<double, Cuts>::first);
  divisions.clear();
  for (std::size_t i = 0; i < std::min(kKept, periods.size()); ++i) {
    divisions.push_back(std::move(periods[i].second));
  }
}

// Steepest descent from `start`; divisions seen before end it, since they were followed then.
UnitPlan descend(const UnitProblem& problem, const PeriodOfCuts& period, Cuts start,
                 std::set<Cuts>& seen) {
  UnitPlan at;
  at.period = Seconds{period(start)};
  at.cuts = std::move(start);
  while (seen.insert(at.cuts).second) {
    UnitPlan next = at;
    for (std::uint32_t c = 1; c < problem.layers.size(); ++c) {
      Cuts cuts = toggled(at.cuts, c);
      const double seconds = period(cuts);
      if (better(seconds, cuts, next)) {
        next.period = Seconds{seconds};
        next.cuts = std::move(cuts);
      }
    }
    at = std::move(next);
  }
  return at;
}

// `period` is infinite for a division that is not allowed.
UnitPlan local_search(const UnitProblem& problem, const PeriodOfCuts& period,
                      const std::vector<Cuts>& further, std::size_t followed) {
  UnitPlan best;
  best.period = Seconds{kUnbounded};
  std::set<Cuts> seen;
  std::vector<Cuts> starts = equal_divisions(problem.layers.size());
  starts.insert(starts.end(), further.begin(), further.end());
  if (problem.layers.size() > followed) {
    keep_best(period, starts);
  }
  for (const Cuts& start : starts) {
    if (allowed(problem, start)) {
      UnitPlan found = descend(problem, period, start, seen);
      if (better(found.period.value, found.cuts, best)) {
        best = std::move(found);
      }
    }
  }
  return best;
}

} // namespace

UnitPlan search_units(const UnitProblem& problem, const PeriodOfCuts& period,
                      const std::vector<Cuts>& starts, std::int64_t micro_batches,
                      const SearchLimits& limits) {
  const PeriodOfCuts if_allowed = [&](const Cuts& cuts) {
    return allowed(problem, cuts) ? period(cuts) : kUnbounded;
  };
  UnitPlan best = problem.layers.size() <= limits.tried
                      ? all_divisions(problem, period)
                      : local_search(problem, if_allowed, starts, limits.followed);
  best.lower_bound = std::min(best.period, Seconds{unit_lower_bound(problem, micro_batches)});
  return best;
}

UnitPlan search_units(const UnitProblem& problem, const UnitTables& tables) {
  return local_search(
      problem, [&](const Cuts& cuts) { return unit_period(problem, tables, cuts); }, {},
      SearchLimits{}.followed);
}

} // namespace stepsim::buckets
