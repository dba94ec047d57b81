#include "buckets/unit_search.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace stepsim::buckets {

namespace {

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

UnitPlan all_divisions(const UnitTables& tables, const PeriodOfCuts& period) {
  UnitPlan best;
  best.period = Seconds{kUnbounded};
  const std::size_t layers = tables.layers();
  for (std::uint64_t set = 0; set < std::uint64_t{1} << (layers - 1); ++set) {
    Cuts cuts;
    for (std::uint32_t c = 1; c < layers; ++c) {
      if ((set >> (c - 1) & 1) != 0) {
        cuts.push_back(c);
      }
    }
    if (tables.allowed(cuts)) {
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
UnitPlan descend(std::size_t layers, const PeriodOfCuts& period, Cuts start, std::set<Cuts>& seen) {
  UnitPlan at;
  at.period = Seconds{period(start)};
  at.cuts = std::move(start);
  while (seen.insert(at.cuts).second) {
    UnitPlan next = at;
    for (std::uint32_t c = 1; c < layers; ++c) {
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
UnitPlan local_search(const UnitTables& tables, const PeriodOfCuts& period,
                      const std::vector<Cuts>& further, std::size_t followed) {
  UnitPlan best;
  best.period = Seconds{kUnbounded};
  std::set<Cuts> seen;
  std::vector<Cuts> starts = equal_divisions(tables.layers());
  starts.insert(starts.end(), further.begin(), further.end());
  if (tables.layers() > followed) {
    keep_best(period, starts);
  }
  for (const Cuts& start : starts) {
    if (tables.allowed(start)) {
      UnitPlan found = descend(tables.layers(), period, start, seen);
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
  const UnitTables tables(problem);
  const PeriodOfCuts if_allowed = [&](const Cuts& cuts) {
    return tables.allowed(cuts) ? period(cuts) : kUnbounded;
  };
  UnitPlan best = tables.layers() <= limits.tried
                      ? all_divisions(tables, period)
                      : local_search(tables, if_allowed, starts, limits.followed);
  best.lower_bound =
      std::min(best.period, Seconds{unit_lower_bound(problem, tables, micro_batches)});
  return best;
}

UnitPlan search_units(const UnitProblem& problem, const UnitTables& tables) {
  return local_search(
      tables, [&](const Cuts& cuts) { return unit_period(problem, tables, cuts); }, {},
      SearchLimits{}.followed);
}

} // namespace stepsim::buckets
