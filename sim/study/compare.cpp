// The rows are records of sweeps without their place in it; ratios and order are made from them.
// Every alternative is a sweep over the axes of a scenario of its own.
#include "study/compare.hpp"

#include "base/shared_value.hpp"
#include "document/json_text.hpp"
#include "run/run.hpp"
#include "scenario/scenario_conditions.hpp"
#include "study/alternatives.hpp"
#include "study/solve.hpp"
#include "study/sweep/assumed.hpp"

namespace stepsim::study {

namespace {

// null where a row failed.
void set_ratios(Comparison& comparison) {
  for (std::size_t i = 0; i < comparison.ranking.standings.size(); ++i) {
    set_standing(comparison.ranking.standings[i], comparison.rows[i]);
  }
  for (std::size_t i = 0; i < comparison.rows.size(); ++i) {
    comparison.rows[i].set("ratio", io::or_null(comparison.ranking.ratios[i]));
  }
}

// Rows that failed last, before them those that need more memory than a device has; equal ones stay
// in the order of the grid.
void sort_best_first(Comparison& comparison) {
  std::vector<std::size_t> order(comparison.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto ratio_of = [&](std::size_t i) {
    const std::optional<double>& ratio = comparison.ranking.ratios[i];
    return std::pair(ratio ? int{exceeds_memory(comparison.rows[i])} : 2,
                     ratio ? base::comparable(*ratio) : HUGE_VAL);
  };
  std::ranges::stable_sort(order, std::less<>(), ratio_of);
  const Comparison before = comparison;
  for (std::size_t i = 0; i < order.size(); ++i) {
    comparison.rows[i] = before.rows[order[i]];
    comparison.batches[i] = before.batches[order[i]];
    comparison.ranking.ratios[i] = before.ranking.ratios[order[i]];
    if (!before.ranking.standings.empty()) {
      comparison.ranking.standings[i] = before.ranking.standings[order[i]];
    }
  }
  if (comparison.ranking.best) {
    comparison.ranking.best = 0;
  }
}

constexpr std::string_view kBandwidth = kNetworkPointer<&Network::bandwidth_Bps>;
constexpr double kFastest = 1.25e12; // 10 Tb/s
constexpr double kGain = 1 + 1e-9;   // equality is no gain

// Why compression is faster on the fastest network, where it would not be without the cap of TCP
// (CON 2); empty otherwise.
std::string by_cap(io::Json scenario, Files& files) {
  io::assign(scenario, kBandwidth, kFastest);
  const Scenario fastest = parse_scenario(scenario, files, Leftovers::ignore);
  if (std::ranges::find(fastest.conditions.used, Factor::c_tcp) == fastest.conditions.used.end()) {
    return {};
  }
  FactorValues factors = fastest.conditions.factors;
  FactorValue& cap = factors[static_cast<std::size_t>(Factor::c_tcp)];
  const std::string rate = base::readable_rate(cap.value);
  cap.value = value_without_loss(Factor::c_tcp);
  const Summary summary = run(with_factors(fastest, factors), Detail::summary).summary;
  return summary.speedup_vs_dense_overlapped.value_or(kGain) >= kGain
             ? ""
             : "faster on fast networks only because a connection of TCP carries at most " + rate +
                   ", however fast the network is (/conditions/factors/c_tcp)";
}

// Bandwidths where the compression is as fast as overlapped dense training, those between where it
// is faster, and why, where that needs a word.
struct BreakEven {
  io::Array bandwidths, wins;
  std::string why;
};

BreakEven break_even_of(const io::Json& scenario, Files& files, int jobs) {
  const SolveProblem problem{.scenario = scenario,
                             .pointer = std::string(kBandwidth),
                             .low = 1.25e6, // 10 Mb/s
                             .high = kFastest,
                             .metric = "speedup_vs_dense_overlapped",
                             .target = kGain,
                             .points = 65};
  const Solution solution = solve(problem, files, {.jobs = jobs});
  const auto first = std::ranges::find_if(
      solution.points, [](const SolvePoint& point) { return point.metric_value.has_value(); });
  BreakEven found;
  std::optional<io::Json> from;
  if (first != solution.points.end() && *first->metric_value >= kGain) {
    from = 0;
  }
  for (const SolveCrossing& crossing : solution.crossings) {
    found.bandwidths.push_back(crossing.point.value);
    if (crossing.rising && !from) {
      from = crossing.point.value;
    } else if (!crossing.rising && from) {
      found.wins.push_back(io::Object{{"from_Bps", *from}, {"to_Bps", crossing.point.value}});
      from.reset();
    }
  }
  if (from) {
    found.wins.push_back(io::Object{{"from_Bps", *from}, {"to_Bps", io::Json()}});
    found.why = by_cap(scenario, files);
  }
  return found;
}

// Summary keys and what the scenario takes for granted.
void describe(const io::Json& scenario, Files& files, const std::vector<std::string>& by_default,
              io::Json& row) {
  row.set("assumes", io::Json());
  if (!error_in(row).empty()) {
    return;
  }
  if (!number_in(row, "staleness_mean")) {
    row.set("staleness_mean", 0.0); // synchronous
  }
  row.set("assumes",
          assumptions(parse_scenario(scenario, files, Leftovers::ignore), row, by_default));
}

// One row of the answer. Steps of different algorithms may process different numbers of batches, so
// that rows are compared by the time of as many batches as the first one has.
struct AlternativeRow {
  std::int64_t point{};
  std::int64_t batches{};
  io::Json row;
};

// What several rows say alike.
struct NamesOfText {
  std::string text;
  std::vector<std::string_view> names{};
};

double time_of(const AlternativeRow& each, std::int64_t batches) {
  const double time = number_in(each.row, kIterationTime).value_or(HUGE_VAL);
  return each.batches == batches
             ? time
             : time * (static_cast<double>(batches) / static_cast<double>(each.batches));
}

// Sets Comparison::varied. Returns what a varied field named "ratio" is called in the rows.
// A field may be called "ratio", as that of a codec is: it then goes by its whole pointer, because
// the comparison has a key of that name.
std::string take_varied(const Grid& grid, Comparison& comparison) {
  comparison.varied = grid.field_names();
  const auto ratio = std::ranges::find(comparison.varied, "ratio");
  if (ratio == comparison.varied.end()) {
    return "ratio";
  }
  return *ratio = grid.axes[static_cast<std::size_t>(ratio - comparison.varied.begin())].pointer;
}

} // namespace

void rank_and_sort(Comparison& comparison, std::optional<BestBy> best_by) {
  comparison.ranking = rank_rows(comparison.rows, comparison.batches, best_by);
  set_ratios(comparison);
  sort_best_first(comparison);
}

Comparison compare(const Sweep& sweep, Files& files, const SweepOptions& options,
                   std::optional<BestBy> best_by) {
  Rows rows = rows_of(sweep, files, options);
  Comparison comparison;
  const std::string ratio_name = take_varied(sweep.grid, comparison);
  comparison.failed = rows.failed;
  comparison.warnings = std::move(rows.warnings);
  for (const io::Json& record : rows.records) {
    comparison.batches.push_back(batches_of_row(sweep, record));
    comparison.rows.push_back(without_place(record, ratio_name));
  }
  comparison.missing = rows.points - std::ssize(comparison.rows);
  if (comparison.rows.empty()) { // interrupted before the first
    return comparison;
  }
  comparison.ranking = rank_rows(comparison.rows, comparison.batches, best_by);
  set_ratios(comparison);
  if (!comparison.ranking.batches_differ) {
    sort_best_first(comparison);
  }
  return comparison;
}

// Every row is a sweep over the axes of a scenario of its own.

Comparison compare_alternatives(const io::Json& scenario, std::vector<Axis> axes,
                                std::span<const Alternative> chosen,
                                std::span<const NamedScenario> others, Files& files,
                                const SweepOptions& options, bool break_even) {
  const bool alone = axes.empty();
  if (alone) { // one combination: an axis that changes nothing
    const io::Json* name = io::resolve(scenario, "/name");
    axes.push_back({"/name", {name == nullptr ? io::Json("") : *name}});
  }
  Comparison comparison;
  std::map<std::string, BreakEven> break_evens; // by the scenario without its bandwidth
  std::vector<AlternativeRow> rows;
  std::vector<NamesOfText> notes; // by text
  std::optional<InputError> undefined;
  const auto say = [&](std::string_view name, const std::string& text) {
    const auto known = std::ranges::find(notes, text, &NamesOfText::text);
    NamesOfText& of_text = known == notes.end() ? notes.emplace_back(text) : *known;
    if (of_text.names.empty() || of_text.names.back() != name) {
      of_text.names.push_back(name);
    }
  };
  const auto add = [&](std::string_view name, io::Json base,
                       const std::vector<std::string>& by_default) {
    const Sweep sweep = sweep_over(std::move(base), axes);
    const auto before = std::ssize(rows);
    const auto total = sweep.grid.points() * (std::ssize(chosen) + std::ssize(others));
    const auto count = [&](std::int64_t done, std::int64_t) {
      if (options.progress) {
        options.progress(before + done, total);
      }
    };
    const Rows run =
        rows_of(sweep, files,
                {.jobs = options.jobs, .max_seconds = options.max_seconds, .progress = count});
    const std::string ratio_name = take_varied(sweep.grid, comparison);
    if (const std::string text = left_out_text(sweep, files); !text.empty()) {
      say(name, "keys left out: " + text);
    }
    append_each_once(comparison.warnings, run.warnings);
    for (std::size_t point = 0; point < run.records.size(); ++point) {
      io::Json row{io::Object{{"algorithm", name}}};
      const io::Json record = without_place(run.records[point], ratio_name);
      for (const auto& [key, value] : record.as_object()) {
        row.set(key, value);
      }
      comparison.failed += error_in(row).empty() ? 0 : 1;
      io::Json tree = scenario_at(sweep.base, sweep.grid, static_cast<std::int64_t>(point));
      describe(tree, files, by_default, row);
      if (break_even) {
        row.set("break_even_Bps", io::Json());
        row.set("compression_wins", io::Json());
        if (has_compression(tree) && error_in(row).empty()) {
          io::assign(tree, kBandwidth, 1e9);
          const BreakEven& found = base::remembered(break_evens, io::compact(tree), [&] {
            return break_even_of(tree, files, options.jobs);
          });
          row.set("break_even_Bps", found.bandwidths);
          row.set("compression_wins", found.wins);
          if (!found.why.empty()) {
            say(name, found.why);
          }
        }
      }
      rows.push_back({static_cast<std::int64_t>(point), batches_of_row(sweep, run.records[point]),
                      std::move(row)});
    }
  };
  for (const Alternative& alternative : chosen) {
    try {
      add(alternative.name, with_alternative(scenario, alternative, axes),
          filled_in(scenario, alternative, axes));
    } catch (const InputError& error) {
      undefined = undefined ? undefined : error;
      say(alternative.name, "the row is left out: " + error.problems().front().message);
    }
  }
  for (const NamedScenario& other : others) {
    add(other.name, other.tree, {});
  }
  if (rows.empty() && undefined) {
    throw InputError(*undefined);
  }
  for (const NamesOfText& each : notes) {
    comparison.warnings.push_back(base::joined(each.names) + ": " + each.text);
  }
  if (alone) {
    comparison.varied.clear();
  }
  comparison.varied.insert(comparison.varied.begin(), "algorithm");
  const std::int64_t batches = rows.empty() ? 1 : rows.front().batches;
  std::ranges::stable_sort(rows, [&](const AlternativeRow& a, const AlternativeRow& b) {
    const auto compared = [&](const AlternativeRow& row) {
      return base::comparable(time_of(row, batches));
    };
    return a.point != b.point ? a.point < b.point : compared(a) < compared(b);
  });
  for (std::size_t begin = 0, end = 0; begin < rows.size(); begin = end) { // a combination each
    while (end < rows.size() && rows[end].point == rows[begin].point) {
      ++end;
    }
    const auto first = static_cast<std::ptrdiff_t>(comparison.rows.size());
    const double best = time_of(rows[begin], batches);
    std::vector<double> log_times;
    for (std::size_t i = begin; i < end; ++i) {
      const double time = time_of(rows[i], batches);
      log_times.push_back(time < HUGE_VAL ? std::log(time) : HUGE_VAL);
      rows[i].row.set("ratio", time < HUGE_VAL && best > 0 ? io::Json(time / best) : io::Json());
      comparison.rows.push_back(std::move(rows[i].row));
    }
    const std::span block(comparison.rows.begin() + first, comparison.rows.end());
    const std::vector<Standing> standing = standings(block, log_times, 0);
    for (std::size_t i = 0; i < standing.size(); ++i) {
      set_standing(standing[i], block[i]);
    }
  }
  return comparison;
}

} // namespace stepsim::study
