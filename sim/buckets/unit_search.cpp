#include "buckets/unit_search.hpp"

#include <algorithm>
#include <numeric>
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

// Labels of all pairs (first layer, last layer) of the newest unit, by the last layer, so that
// every label comes after those that it extends. What a label holds: unit_tables.hpp.

constexpr std::uint32_t kNoParent = static_cast<std::uint32_t>(-1);

struct Head {
  std::uint32_t parent{}; // in all labels
  std::uint32_t last{};   // layer
  std::uint32_t units{};
  double bound{}; // no division that begins so has a shorter period
};

// Labels in rows of `size` numbers.
struct Rows {
  std::vector<Head> heads;
  std::vector<double> values;
  [[nodiscard]] std::span<const double> row(std::size_t i, std::size_t size) const {
    return {values.data() + i * size, size};
  }
};

class UnitLabels {
public:
  UnitLabels(const UnitProblem& problem, std::int64_t label_limit)
      : problem_(problem), tables_(problem), layout_(problem), limit_(label_limit) {}

  UnitPlan plan() {
    const std::size_t layers = tables_.layers();
    const UnitPlan start = search_units(problem_, tables_);
    UnitPlan best = start;
    best.period = Seconds{unit_period(problem_, best.cuts)};
    best.lower_bound = Seconds{unit_lower_bound(problem_, tables_)};
    if (layers > kMostLayersLabelled) {
      best.certified = best.period.value <= best.lower_bound.value * (1 + kEqualPeriods);
      return best;
    }
    most_ = (start.period.value - problem_.update.value) * (1 + kEqualPeriods);
    keys_.assign(layers * layers, {});
    for (std::size_t last = 0; last < layers; ++last) {
      for (std::size_t first = 0; first <= last; ++first) {
        if (tables_.allowed(first, last)) {
          extend(first, last);
        }
      }
    }
    choose(best);
    best.labels = static_cast<std::int64_t>(labels_.heads.size());
    best.certified = !cut_short_;
    // No plan that was dropped is faster than its lower bound.
    best.lower_bound =
        std::max(best.lower_bound, std::min(best.period, problem_.update + Seconds{dropped_}));
    return best;
  }

private:
  struct Range {
    std::size_t first{};
    std::size_t end{};
  };
  struct Finished {
    double finish{};
    std::uint32_t units{};
    std::uint32_t parent{};
  };

  // Makes the labels whose newest unit holds layers `first` to `last`. Those that end with the last
  // layer of the model are results.
  void extend(std::size_t first, std::size_t last) {
    found_.heads.clear();
    found_.values.clear();
    if (first == 0) {
      add(kNoParent, {}, 0, first, last);
    } else {
      for (std::size_t before = 0; before < first; ++before) {
        const Range range = keys_[before * tables_.layers() + first - 1];
        const double regather =
            tables_.allowed(before, first - 1) ? tables_.unit(before, first - 1).gather : 0;
        for (std::size_t i = range.first; i < range.end; ++i) {
          add(static_cast<std::uint32_t>(i), labels_.row(i, layout_.size), regather, first, last);
        }
      }
    }
    if (last + 1 < tables_.layers()) {
      keep(first, last);
    }
  }

  // One more unit behind `label`, whose newest unit is gathered again in `regather` seconds.
  void add(std::uint32_t parent, std::span<const double> label, double regather, std::size_t first,
           std::size_t last) {
    const UnitSeconds unit = tables_.unit(first, last);
    const std::size_t begin = found_.values.size();
    found_.values.resize(begin + layout_.size);
    const std::span<double> now(found_.values.data() + begin, layout_.size);
    add_unit(layout_, unit, regather, label, now);
    const bool complete = last + 1 == tables_.layers();
    const double bound = complete ? finish_of(layout_, unit.gather, now)
                                  : bound_of(layout_, unit.gather, tables_.rest(last + 1),
                                             problem_.layers.back(), now);
    const std::uint32_t units = parent == kNoParent ? 1 : labels_.heads[parent].units + 1;
    if (!complete && bound <= most_) {
      found_.heads.push_back({parent, static_cast<std::uint32_t>(last), units, bound});
      return;
    }
    found_.values.resize(begin);
    if (complete && bound <= most_) {
      most_ = std::min(most_, bound * (1 + kEqualPeriods));
      finished_.push_back({bound, units, parent});
    }
  }

  // Adds what no other found label dominates. One that is nowhere greater has a sum that is not
  // greater, so that in order of sums only labels that are kept need a look.
  void keep(std::size_t first, std::size_t last) {
    const std::size_t size = layout_.size;
    std::vector<double> sums(found_.heads.size());
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const std::span<const double> row = found_.row(i, size);
      for (const double value : row) {
        sums[i] += value == -kUnbounded ? 0 : value;
      }
    }
    std::vector<std::uint32_t> order(sums.size());
    std::iota(order.begin(), order.end(), 0U);
    std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
      return sums[a] != sums[b] ? sums[a] < sums[b] : found_.heads[a].units < found_.heads[b].units;
    });
    const std::size_t begin = labels_.heads.size();
    for (const std::uint32_t i : order) {
      if (found_.heads[i].bound <= most_ && !dominated(i, begin)) {
        labels_.heads.push_back(found_.heads[i]);
        const std::span<const double> row = found_.row(i, size);
        labels_.values.insert(labels_.values.end(), row.begin(), row.end());
      }
    }
    shorten(begin);
    keys_[first * tables_.layers() + last] = {begin, labels_.heads.size()};
  }

  [[nodiscard]] bool dominated(std::size_t candidate, std::size_t begin) const {
    const std::size_t size = layout_.size;
    const double* values = found_.values.data() + candidate * size;
    const Head& head = found_.heads[candidate];
    for (std::size_t k = begin; k < labels_.heads.size(); ++k) {
      const double* other = labels_.values.data() + k * size;
      std::size_t i = 0;
      while (i < size && other[i] <= values[i]) {
        ++i;
      }
      if (i < size || labels_.heads[k].units > head.units) {
        continue;
      }
      if (labels_.heads[k].units < head.units ||
          cuts_of(labels_.heads[k].parent) <= cuts_of(head.parent)) {
        return true;
      }
    }
    return false;
  }

  // With more labels than the limit, the best ones by bound.
  void shorten(std::size_t begin) {
    if (static_cast<std::int64_t>(labels_.heads.size()) <= limit_) {
      return;
    }
    cut_short_ = true;
    const std::size_t keys = tables_.layers() * (tables_.layers() + 1) / 2;
    const std::size_t most = std::max<std::size_t>(1, static_cast<std::size_t>(limit_) / keys);
    const std::size_t count = labels_.heads.size() - begin;
    if (count <= most) {
      return;
    }
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), begin);
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return labels_.heads[i].bound; });
    dropped_ = std::min(dropped_, labels_.heads[order[most]].bound);
    order.resize(most);
    Rows kept;
    for (const std::size_t i : order) {
      kept.heads.push_back(labels_.heads[i]);
      const std::span<const double> row = labels_.row(i, layout_.size);
      kept.values.insert(kept.values.end(), row.begin(), row.end());
    }
    labels_.heads.resize(begin);
    labels_.values.resize(begin * layout_.size);
    labels_.heads.insert(labels_.heads.end(), kept.heads.begin(), kept.heads.end());
    labels_.values.insert(labels_.values.end(), kept.values.begin(), kept.values.end());
  }

  // The cuts behind the units of a label.
  [[nodiscard]] Cuts cuts_of(std::uint32_t label) const {
    Cuts cuts;
    for (; label != kNoParent; label = labels_.heads[label].parent) {
      cuts.push_back(labels_.heads[label].last + 1);
    }
    std::ranges::reverse(cuts);
    return cuts;
  }

  // The first of the equally good results.
  void choose(UnitPlan& best) const {
    const double least = base::least<double>(finished_, best.period.value - problem_.update.value,
                                             &Finished::finish);
    for (const Finished& each : finished_) {
      if (each.finish > least * (1 + kEqualPeriods)) {
        continue;
      }
      Cuts cuts = cuts_of(each.parent);
      const bool shorter = best.period.value - problem_.update.value > least * (1 + kEqualPeriods);
      if (shorter || cuts.size() < best.cuts.size() ||
          (cuts.size() == best.cuts.size() && cuts < best.cuts)) {
        best.period = Seconds{unit_period(problem_, cuts)};
        best.cuts = std::move(cuts);
      }
    }
  }

  const UnitProblem& problem_;
  UnitTables tables_;
  StateLayout layout_;
  std::int64_t limit_;
  bool cut_short_ = false;
  double most_{};               // results above it are not the best
  double dropped_ = kUnbounded; // least bound of the labels beyond the limit
  Rows labels_;
  Rows found_;              // of the pair at hand
  std::vector<Range> keys_; // [first x layers + last] its labels
  std::vector<Finished> finished_;
};

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

UnitPlan plan_units(const UnitProblem& problem, std::int64_t label_limit) {
  return UnitLabels(problem, label_limit).plan();
}

} // namespace stepsim::buckets
