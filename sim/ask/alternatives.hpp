#pragma once
// Every way of exchanging gradients, by name: a few changes to a scenario. `compare --algorithms`
// puts them side by side on one workload and network, with what each takes for granted
// (assumptions.hpp).
//
//   ddp        /communication/schedule = ddp
//   topk       /communication/compression/method = topk, /communication/schedule = single
//   pipe_sgd   /training/algorithm = pipe_sgd, /communication/schedule = single
//
// Each is synchronous and dense but for its changes. Schedules and methods of compression come from
// their tables, where a row says whether it is compared.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ask/compare.hpp"
#include "sweep/grid.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct Alternative {
  std::string_view name;
  std::string_view summary;  // in words, for help
  std::string changes;       // a JSON object: pointer -> value
  std::string_view defaults; // likewise; only where the scenario says nothing ("" = none)
};

[[nodiscard]] std::span<const Alternative> alternatives();

// Names as typed: "all" or some of them, each once. UsageError with the nearest for an unknown one.
[[nodiscard]] std::vector<Alternative> find_alternatives(std::span<const std::string> names);

// What the alternative changes, for help: "compression/method=topk, schedule=single"; keys of
// /communication without that prefix, others with their whole pointer.
[[nodiscard]] std::string changes_text(const Alternative& alternative);

// UsageError where a value given by hand would change what the row's name means:
// "--over: /communication/schedule is set by algorithm ddp". `set`: pointers and values that are
// in the scenario already. A whole object that is set (such as /communication) is refused only
// where it holds a key that the alternative changes, the training algorithm or the compression
// method, with another value than "sync_sgd" or "none".
void refuse_contradictions(std::span<const Alternative> chosen,
                           std::span<const std::pair<std::string, io::Json>> set,
                           std::span<const Axis> over);

// The scenario with the alternative's changes, and its defaults where neither the scenario nor
// `axes` say something; what they say about compression beyond the method (density, costs) stays.
[[nodiscard]] io::Json with_alternative(io::Json scenario, const Alternative& alternative,
                                        std::span<const Axis> axes = {});

struct AlternativesOptions {
  int jobs = 1;            // threads
  bool break_even = false; // also find where a compression beats overlapped dense training
};

// All alternatives for every combination of the axes (may be none): rows with `algorithm`, the
// varied fields, summary keys (`staleness_mean` 0 where training is synchronous), `ratio` to the
// best of the same combination, `assumes`, and with `break_even` (null unless the row is compressed
// and did not fail)
//   break_even_Bps     [bandwidth where it is as fast as overlapped dense training, ..]
//   compression_wins   [{from_Bps, to_Bps}, ..] where it is faster; open intervals, from 0 and to
//                      null where that goes on to the end of what is searched, 10 Mb/s to 10 Tb/s
// Sorted by combination, then time; rows that failed last, with null for ratio and `assumes`.
// `ranking` and `batches` of the Comparison stay empty. Throws InputError if an alternative cannot
// be parsed at any of a sample of combinations.
[[nodiscard]] Comparison compare_alternatives(const io::Json& scenario, std::vector<Axis> axes,
                                              std::span<const Alternative> chosen, Files& files,
                                              const AlternativesOptions& options);

} // namespace stepsim::study
