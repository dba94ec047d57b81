#pragma once
// The table of `compare --algorithms` and `compare --rows`: alternatives of a base scenario
// (alternatives.hpp) and further whole scenarios, each run at every combination of the axes.
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "study/alternatives.hpp"
#include "study/compare.hpp"

namespace stepsim::study {

// A scenario of `compare --rows`, which does not derive from the base scenario.
struct NamedScenario {
  std::string name;
  io::Json tree; // short forms expanded
};

struct AlternativesOptions {
  int jobs = 1;                     // threads
  double max_seconds = kMaxSeconds; // limit of the estimated time, as in SweepOptions
  bool break_even = false;          // also find the bandwidths at which compression is faster
  // Called with the number of rows that are finished; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress = {};
};

// Runs all of `chosen` and `others` at every combination of `axes`, which may be empty. A row has
//   algorithm          name of the alternative or scenario
//   the varied fields and the summary keys; staleness_mean is 0 for synchronous training
//   ratio              time of a batch / the least time of a batch of the same combination
//   assumes            the assumptions of the run in words (assumptions.hpp)
// and with options.break_even the comparison with overlapped dense training at 10 Mb/s to 10 Tb/s
// (null for rows without compression and rows that failed):
//   break_even_Bps     [bandwidth at which both are equally fast, ..]
//   compression_wins   [{from_Bps, to_Bps}, ..] open intervals in which compression is faster;
//                      from_Bps 0: from 10 Mb/s on, to_Bps null: up to 10 Tb/s
// Rows are sorted by combination, then by the time of a batch; failed rows come last in their
// combination, with null for `ratio` and `assumes`. `ranking` and `batches` of the Comparison stay
// empty. Throws InputError if, for one of the rows' scenarios, none of a sample of combinations can
// be parsed.
[[nodiscard]] Comparison compare_alternatives(const io::Json& scenario, std::vector<Axis> axes,
                                              std::span<const Alternative> chosen,
                                              std::span<const NamedScenario> others, Files& files,
                                              const AlternativesOptions& options);

} // namespace stepsim::study
