#include "study/reproduce/paper_records.hpp"

#include <cmath>
#include <numeric>

#include "base/collected.hpp"
#include "base/formula.hpp"
#include "base/statistics.hpp"
#include "document/json_text.hpp"

namespace stepsim::reproduce {

namespace {

constexpr double kSame = 1e-9; // times of one input that were added in another order

[[noreturn]] void refuse(const Series& series, const std::string& file, std::string message) {
  throw InputError(file, series.place, std::move(message));
}

bool has_all(const io::Object& record, const io::Object& where) {
  return std::ranges::all_of(where, [&](const auto& wanted) {
    const io::Json* value = column(record, wanted.first);
    return value != nullptr && same_value(*value, wanted.second);
  });
}

const Records& records_of(const std::string& run, const Series& series, const Reproduced& all) {
  const auto found = all.records.find(run);
  if (found == all.records.end()) {
    const auto known =
        base::collected<std::string_view>(all.records, &AllRecords::value_type::first);
    refuse(series, all.paper.file, base::unknown_word("run", run, known));
  }
  return found->second;
}

const io::Object* other_of(const io::Object& record, const Records& records, const Other& other) {
  const auto found = std::ranges::find_if(records, [&](const io::Object& candidate) {
    return has_all(candidate, other.where) &&
           std::ranges::all_of(other.match, [&](const auto& match) {
             const io::Json* mine = column(record, match.first);
             const io::Json* theirs = column(candidate, match.second);
             return mine != nullptr && theirs != nullptr && same_value(*mine, *theirs);
           });
  });
  return found == records.end() ? nullptr : &*found;
}

std::string shown(const io::Object& record, const io::Object& where) {
  return io::compact(where.empty() ? io::Json(record) : io::Json(where)).substr(0, 200);
}

// The texts of the columns that make a group.
std::string group_of(const io::Object& record, const std::vector<std::string>& columns) {
  std::string key;
  for (const std::string& name : columns) {
    const io::Json* value = column(record, name);
    key += (value == nullptr ? std::string("-") : io::compact(*value)) + "\n";
  }
  return key;
}

// In how many groups both formulas are least at the same record.
double same_best(const Cell& cell, const std::vector<Joined>& joined) {
  struct Best {
    std::size_t by_value{}, by_with{};
    double value = INFINITY, with = INFINITY;
  };
  std::map<std::string, Best> groups;
  for (std::size_t i = 0; i < joined.size(); ++i) {
    Best& best = groups[group_of(*joined[i].record, cell.group)];
    constexpr double kRounding = 1e-12; // of equal values the first counts
    if (const double value = evaluate(cell.value, joined[i]);
        value < best.value * (1 - kRounding)) {
      best.value = value;
      best.by_value = i;
    }
    if (const double with = evaluate(cell.with, joined[i]); with < best.with) {
      best.with = with;
      best.by_with = i;
    }
  }
  return static_cast<double>(std::ranges::count_if(
      groups, [](const auto& group) { return group.second.by_value == group.second.by_with; }));
}

} // namespace

bool same_value(const io::Json& a, const io::Json& b) {
  if (!a.is_number() || !b.is_number()) {
    return a == b;
  }
  const double larger = std::max(std::abs(a.as_double()), std::abs(b.as_double()));
  return std::abs(a.as_double() - b.as_double()) <= kSame * larger;
}

const io::Json* column(const io::Object& record, std::string_view name) {
  const auto found = std::ranges::find(record, name, &io::Member::first);
  return found == record.end() ? nullptr : &found->second;
}

std::vector<Joined> select(const Series& series, const Reproduced& all) {
  const Records& records = records_of(series.run, series, all);
  const std::string& file = all.paper.file;
  std::vector<Joined> joined;
  for (const io::Object& record : records) {
    if (!has_all(record, series.where)) {
      continue;
    }
    Joined one{&record, nullptr, &series, &file};
    if (series.other) {
      const Other& other = *series.other;
      one.other =
          other_of(record, other.run.empty() ? records : records_of(other.run, series, all), other);
      if (one.other == nullptr) {
        refuse(series, file, "no other record for " + shown(record, series.where));
      }
    }
    if (series.when.empty() || evaluate(series.when, one) > 0) {
      joined.push_back(one);
    }
  }
  if (joined.empty()) {
    refuse(series, file,
           "no record of " + series.run + " has " + io::compact(io::Json(series.where)) +
               (series.when.empty() ? "" : " and fulfils " + series.when));
  }
  return joined;
}

double evaluate(const std::string& formula, const Joined& joined) {
  std::vector<std::string> names;
  std::vector<double> values;
  const auto add = [&](const io::Object& record, const std::string& before) {
    for (const auto& [name, value] : record) {
      if (value.is_number()) {
        names.push_back(before + name);
        values.push_back(value.as_double());
      }
    }
  };
  add(*joined.record, "");
  if (joined.other != nullptr) {
    add(*joined.other, "other_");
  }
  const std::vector<std::string_view> known(names.begin(), names.end());
  const auto parsed = base::Formula::parse(formula, known);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    refuse(*joined.series, *joined.file, *problem);
  }
  const double value = std::get<base::Formula>(parsed).value(values);
  if (!std::isfinite(value)) {
    refuse(*joined.series, *joined.file, "\"" + formula + "\" is not finite");
  }
  return value;
}

double evaluate(const Cell& cell, const Reproduced& all) {
  const std::vector<Joined> joined = select(cell.series, all);
  if (cell.reduce == Reduce::count) {
    return static_cast<double>(joined.size());
  }
  if (cell.reduce == Reduce::same_best) {
    return same_best(cell, joined);
  }
  const auto values = base::collected<double>(
      joined, [&](const Joined& each) { return evaluate(cell.value, each); });
  switch (cell.reduce) {
  case Reduce::one:
    if (values.size() > 1) {
      refuse(cell.series, all.paper.file,
             std::to_string(values.size()) + " records, but one is asked for");
    }
    return values.front();
  case Reduce::min:
    return std::ranges::min(values);
  case Reduce::max:
    return std::ranges::max(values);
  case Reduce::median:
    return base::median(values);
  case Reduce::sum:
  case Reduce::mean: {
    const double sum = std::accumulate(values.begin(), values.end(), 0.0);
    return cell.reduce == Reduce::sum ? sum : sum / static_cast<double>(values.size());
  }
  case Reduce::count:
  case Reduce::same_best:
    break;
  }
  return 0;
}

} // namespace stepsim::reproduce
