#include "study/alternatives.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "coll/compression.hpp"
#include "study/rows.hpp"
#include "study/solve.hpp"

namespace stepsim::study {

namespace {

constexpr std::string_view kMethod = "/communication/compression/method";
constexpr std::string_view kBandwidth = "/cluster/network/bandwidth_Bps";

// clang-format off
constexpr std::array kAlternatives{
  Alternative{"single", R"({"/communication/schedule": "single"})",
    "one message after backward"},
  Alternative{"wfbp", R"({"/communication/schedule": "wfbp"})",
    "one message per gradient"},
  Alternative{"ddp", R"({"/communication/schedule": "ddp"})",
    "PyTorch buckets of 25 MiB"},
  Alternative{"horovod", R"({"/communication/schedule": "horovod"})",
    "fusion buffer of 128 MiB, cycles of 1 ms"},
  Alternative{"mg_wfbp", R"({"/communication/schedule": "mg_wfbp"})",
    "the published greedy merge"},
  Alternative{"optimal", R"({"/communication/schedule": "optimal"})",
    "the best merge for one channel"},
  Alternative{"asc_wfbp", R"({"/communication/schedule": "asc_wfbp"})",
    "two all-reduces at once, each slowed to 2/3"},
  Alternative{"bytescheduler", R"({"/communication/schedule": "priority"})",
    "chunks of 1 M parameters, first layers first"},
  Alternative{"p3", R"({"/communication/schedule": "priority", "/communication/preset": "p3"})",
    "chunks of 50 k parameters, one at a time"},
  Alternative{"dear", R"({"/communication/schedule": "dear"})",
    "all-gather overlaps the next forward"},
  Alternative{"fp16", R"({"/communication/compression/method": "fp16", "/communication/schedule": "ddp"})",
    "sums in 16 bits; casts are free"},
  Alternative{"truncate16", R"({"/communication/compression/method": "truncate16", "/communication/schedule": "ddp"})",
    "7 bits of mantissa, rounded at every hop"},
  Alternative{"quantize8", R"({"/communication/compression/method": "quantize8", "/communication/schedule": "ddp"})",
    "256 levels, rounded at every hop"},
  Alternative{"topk", R"({"/communication/compression/method": "topk", "/communication/schedule": "single"})",
    "density given; error feedback keeps accuracy"},
  Alternative{"topk_layerwise", R"({"/communication/compression/method": "topk", "/communication/schedule": "wfbp"})",
    "top-k per gradient (LAGS), overlapped"},
  Alternative{"topk_omgs", R"({"/communication/compression/method": "topk", "/communication/schedule": "omgs"})",
    "top-k per merged group (OMGS), overlapped"},
  Alternative{"gtopk_tree", R"({"/communication/compression/method": "gtopk_tree", "/communication/schedule": "single"})",
    "global top-k only is applied; error feedback"},
  Alternative{"gtopk_butterfly", R"({"/communication/compression/method": "gtopk_butterfly", "/communication/schedule": "single"})",
    "as gtopk_tree, every rank merges"},
  Alternative{"ok_topk", R"({"/communication/compression/method": "ok_topk", "/communication/schedule": "single"})",
    "upper bound of its volume; thresholds reused"},
  Alternative{"sparcml_rd", R"({"/communication/compression/method": "sparcml_rd", "/communication/schedule": "single"})",
    "random positions of the selected entries"},
  Alternative{"powersgd", R"({"/communication/compression/method": "powersgd", "/communication/compression/rank": 4, "/communication/schedule": "single"})",
    "rank 4; factorisation costs only what is given"},
  Alternative{"qsgd", R"({"/communication/compression/method": "qsgd", "/communication/schedule": "single"})",
    "8 bits, scales per 512 values, all-gathered"},
  Alternative{"signsgd", R"({"/communication/compression/method": "signsgd", "/communication/schedule": "single"})",
    "majority vote of signs"},
  Alternative{"pipe_sgd", R"({"/training/algorithm": "pipe_sgd", "/communication/schedule": "single"})",
    "width 2: gradients are one iteration old"},
  Alternative{"pipe_sgd_truncate16", R"({"/training/algorithm": "pipe_sgd", "/communication/schedule": "single", "/communication/compression/method": "truncate16"})",
    "width 2, 16-bit values in the ring"},
  Alternative{"ps_sync", R"({"/training/algorithm": "parameter_server", "/communication/schedule": "single"})",
    "one dedicated server"},
  Alternative{"ps_sharded", R"({"/training/algorithm": "parameter_server", "/training/placement": "sharded", "/communication/schedule": "single"})",
    "a server on every worker"},
  Alternative{"ps_async", R"({"/training/algorithm": "parameter_server", "/training/mode": "async", "/communication/schedule": "single"})",
    "one dedicated server; stale gradients"},
};
// clang-format on

// What the base of every alternative is: synchronous, dense, nothing of another algorithm left.
constexpr std::string_view kNeutral = R"({"/training/algorithm": "sync_sgd"})";

io::Json changed(io::Json scenario, std::string_view changes) {
  const io::Json tree = io::parse_json(changes, "");
  for (const auto& [pointer, value] : tree.as_object()) {
    io::assign(scenario, pointer, value);
  }
  return scenario;
}

bool is_compressed(const io::Json& scenario) {
  const io::Json* method = io::resolve(scenario, kMethod);
  if (method == nullptr || !method->is_string()) {
    return false;
  }
  const coll::CompressionRow* row = coll::find_compression(method->as_string());
  return row != nullptr && row->method != coll::CompressionMethod::none;
}

// Bandwidths where the compression is as fast as overlapped dense training.
io::Json break_even(const io::Json& scenario, Files& files, int jobs) {
  constexpr double kLow = 1.25e6;   // 10 Mb/s
  constexpr double kHigh = 1.25e12; // 10 Tb/s
  constexpr std::int64_t kPoints = 65;
  const SolveProblem problem{.scenario = scenario,
                             .pointer = std::string(kBandwidth),
                             .low = kLow,
                             .high = kHigh,
                             .metric = "speedup_vs_dense_overlapped",
                             .target = 1,
                             .points = kPoints};
  io::Array list;
  for (const SolveCrossing& crossing : solve(problem, files, {.jobs = jobs, .progress = {}}).crossings) {
    list.push_back(crossing.point.value);
  }
  return list;
}

double time_of(const io::Json& row) {
  return number_in(row, "iteration_time_s").value_or(HUGE_VAL);
}

} // namespace

std::span<const Alternative> alternatives() { return kAlternatives; }

std::vector<Alternative> find_alternatives(std::span<const std::string> names) {
  std::vector<Alternative> found;
  std::vector<std::string_view> known{"all"};
  for (const Alternative& alternative : kAlternatives) {
    known.emplace_back(alternative.name);
  }
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (name == "all") {
      return {kAlternatives.begin(), kAlternatives.end()};
    }
    const auto place = std::ranges::find(kAlternatives, name, &Alternative::name);
    if (place == kAlternatives.end()) {
      throw UsageError(base::unknown_word("algorithm", name, known));
    }
    if (seen.insert(name).second) {
      found.push_back(*place);
    }
  }
  return found;
}

io::Json with_alternative(io::Json scenario, const Alternative& alternative) {
  scenario = changed(with_short_forms_expanded(std::move(scenario)), kNeutral);
  if (is_compressed(scenario)) {
    io::assign(scenario, kMethod, "none");
  }
  return changed(std::move(scenario), alternative.changes);
}

Comparison compare_alternatives(const io::Json& scenario, std::vector<Axis> axes,
                                std::span<const Alternative> chosen, Files& files,
                                const AlternativesOptions& options) {
  const bool alone = axes.empty();
  if (alone) { // one combination: an axis that changes nothing
    const io::Json* name = io::resolve(scenario, "/name");
    axes.push_back({"/name", {name == nullptr ? io::Json("") : *name}});
  }
  Comparison comparison;
  std::map<std::string, io::Json> break_evens; // by the scenario without its bandwidth
  std::vector<std::pair<std::int64_t, io::Json>> rows;
  for (const Alternative& alternative : chosen) {
    const Sweep sweep = sweep_over(with_alternative(scenario, alternative), axes);
    const Rows run = rows_of(sweep, files, {.jobs = options.jobs, .progress = {}});
    comparison.varied = sweep.grid.field_names();
    for (const std::string& warning : run.warnings) {
      if (std::ranges::find(comparison.warnings, warning) == comparison.warnings.end()) {
        comparison.warnings.push_back(warning);
      }
    }
    for (std::size_t point = 0; point < run.records.size(); ++point) {
      io::Json row{io::Object{{"algorithm", alternative.name}}};
      for (const auto& [key, value] : run.records[point].as_object()) {
        if (key != "record" && key != "point" && key != "status") {
          row.set(key, value);
        }
      }
      row.set("assumes", alternative.assumes);
      comparison.failed += error_in(row).empty() ? 0 : 1;
      io::Json tree = scenario_at(sweep.base, sweep.grid, static_cast<std::int64_t>(point));
      if (options.break_even) {
        row.set("break_even_Bps", io::Json());
        if (is_compressed(tree) && error_in(row).empty()) {
          io::assign(tree, kBandwidth, 1e9);
          const auto [place, is_new] = break_evens.try_emplace(io::compact(tree));
          if (is_new) {
            place->second = break_even(tree, files, options.jobs);
          }
          row.set("break_even_Bps", place->second);
        }
      }
      rows.emplace_back(static_cast<std::int64_t>(point), std::move(row));
    }
  }
  if (alone) {
    comparison.varied.clear();
  }
  comparison.varied.insert(comparison.varied.begin(), "algorithm");
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : time_of(a.second) < time_of(b.second);
  });
  double best = HUGE_VAL;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double time = time_of(rows[i].second);
    if (i == 0 || rows[i].first != rows[i - 1].first) {
      best = time;
    }
    rows[i].second.set("ratio", time < HUGE_VAL && best > 0 ? io::Json(time / best) : io::Json());
    comparison.rows.push_back(std::move(rows[i].second));
  }
  return comparison;
}

} // namespace stepsim::study
