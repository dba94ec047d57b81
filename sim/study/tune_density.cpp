// The largest density at which a sparse exchange is at least as fast as dense training, by
// bisection over the entries k of the whole gradient: time never falls with k (SPA 1, 16).
#include "study/tune.hpp"

#include "document/json_text.hpp"

namespace stepsim::study {

namespace {

// Remembers every density that was run: both baselines share the runs.
struct Search {
  const TuneValues& values;
  Files& files;
  std::vector<std::string>& warnings;
  std::int64_t elements{};
  std::vector<TunePoint> tried;

  TunePoint run(std::int64_t k) {
    const double density = density_of(k, elements);
    if (const auto* found = base::found_if(
            tried, [&](const TunePoint& point) { return point.value.as_double() == density; })) {
      return *found;
    }
    tried.push_back(run_points(values.scenario, row(Knob::density).pointer(), {io::Json(density)},
                               files, {}, warnings)
                        .front());
    return tried.back();
  }

  bool pays(std::int64_t k, std::string_view speedup) {
    return number_in(run(k).record, speedup).value_or(0) >= 1;
  }

  // 0 where not even one entry pays.
  std::int64_t largest(std::string_view speedup) {
    if (pays(elements, speedup)) {
      return elements;
    }
    std::int64_t low = 0;
    std::int64_t high = elements;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (pays(middle, speedup) ? low : high) = middle;
    }
    return low;
  }

  // What a run for k entries selects: every bucket takes the floor of its own.
  std::int64_t selected(std::int64_t k) {
    return k > 0 ? static_cast<std::int64_t>(
                       number_in(run(k).record, "k").value_or(static_cast<double>(k)))
                 : 0;
  }
};

// Dense training, as the runs compared themselves with it. Dense times follow from the speed-ups
// that the sparse run reports; no dense run is needed.
TuneReference dense_reference(const std::string& name, const TunePoint& sparse,
                              std::string_view speedup, std::int64_t largest_k) {
  const std::optional<double> by = number_in(sparse.record, speedup);
  const bool known = by && sparse.ran();
  return {name, known ? TunePoint{{}, *by * sparse.step_s(), {}, {}} : TunePoint{}, std::nullopt,
          largest_k};
}

} // namespace

// Selection takes the floor of density x elements; the loop steps over densities whose product
// falls just short by rounding.
double density_of(std::int64_t entries, std::int64_t elements) {
  const auto all = static_cast<double>(elements);
  const auto wanted = static_cast<double>(entries);
  double density = wanted / all;
  while (std::floor(density * all) < wanted) {
    density = std::nextafter(density, 2.0);
  }
  return std::min(density, 1.0);
}

Tuning tune_density(const TuneProblem& problem, const TuneValues& values, Files& files,
                    const SweepOptions& options) {
  static constexpr std::string_view kSequential = "speedup_vs_dense_sequential";
  static constexpr std::string_view kOverlapped = "speedup_vs_dense_overlapped";
  const Scenario scenario = parse_scenario(values.scenario, files, Leftovers::ignore);
  Tuning tuning;
  tuning.exact = true;
  Search search{values, files, tuning.warnings, scenario.workload.values(), {}};
  search.tried = run_points(values.scenario, row(Knob::density).pointer(), values.values, files,
                            options, tuning.warnings);
  if (const TunePoint least = search.run(1); !least.error.empty()) {
    throw SimulationError(least.error);
  }
  const std::int64_t sequential = search.largest(kSequential);
  const std::int64_t overlapped = search.largest(kOverlapped);
  const bool by_sequential = problem.baseline == programs::DenseBaseline::sequential;
  const std::int64_t best = by_sequential ? sequential : overlapped;
  if (best > 0) {
    tuning.best = search.run(best);
  }
  tuning.curve = search.tried;
  std::ranges::sort(tuning.curve, {},
                    [](const TunePoint& point) { return point.value.as_double(); });
  const TunePoint any = tuning.best ? *tuning.best : search.run(1);
  const io::Json* now = io::resolve(problem.scenario, row(Knob::density).pointer());
  if (now != nullptr && now->is_number()) {
    tuning.references.push_back({"current",
                                 run_points(values.scenario, row(Knob::density).pointer(), {*now},
                                            files, {}, tuning.warnings)
                                     .front(),
                                 {},
                                 {}});
  }
  tuning.references.push_back(
      dense_reference("dense_sequential", any, kSequential, search.selected(sequential)));
  tuning.references.push_back(
      dense_reference("dense_overlapped", any, kOverlapped, search.selected(overlapped)));
  tuning.warnings.emplace_back(
      "accuracy is not modelled: only times are compared with dense training");
  return tuning;
}

} // namespace stepsim::study
