#pragma once
// The table of `compare --algorithms` and `compare --rows`: alternatives of one scenario
// (alternatives.hpp), and scenarios of their own, each at every combination of the axes.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ask/alternatives.hpp"
#include "ask/compare.hpp"

namespace stepsim::study {

// A row that is a scenario of its own and no change of the base.
struct NamedScenario {
  std::string name;
  io::Json tree; // short forms expanded
};

struct AlternativesOptions {
  int jobs = 1;                     // threads
  double max_seconds = kMaxSeconds; // as in SweepOptions
  bool break_even = false;          // also find where a compression beats overlapped dense training
  // Called with the rows that are finished; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

// All alternatives and all `others` for every combination of the axes (may be none): rows with
// `algorithm`, the varied fields, summary keys (`staleness_mean` 0 where training is synchronous),
// `ratio` to the best of the same combination, `assumes`, and with `break_even` (null unless the
// row is compressed and did not fail)
//   break_even_Bps     [bandwidth where it is as fast as overlapped dense training, ..]
//   compression_wins   [{from_Bps, to_Bps}, ..] where it is faster; open intervals, from 0 and to
//                      null where that goes on to the end of what is searched, 10 Mb/s to 10 Tb/s
// Sorted by combination, then time; rows that failed last, with null for ratio and `assumes`.
// `ranking` and `batches` of the Comparison stay empty. Throws InputError if an alternative cannot
// be parsed at any of a sample of combinations.
[[nodiscard]] Comparison compare_alternatives(const io::Json& scenario, std::vector<Axis> axes,
                                              std::span<const Alternative> chosen,
                                              std::span<const NamedScenario> others, Files& files,
                                              const AlternativesOptions& options);

} // namespace stepsim::study
