#pragma once
// Every way of exchanging gradients, by name: a few changes to a scenario, and what each takes for
// granted. `compare --algorithms` puts them side by side on one workload and network.
//
//   ddp        /communication/schedule = ddp
//   topk       /communication/compression/method = topk, /communication/schedule = single
//   pipe_sgd   /training/algorithm = pipe_sgd
//
// A new algorithm is one row in alternatives.cpp.
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.hpp"
#include "study/compare.hpp"
#include "study/grid.hpp"

namespace stepsim::study {

struct Alternative {
  std::string_view name;
  std::string_view changes; // a JSON object: pointer -> value
  std::string_view assumes; // in words, for tables
};

[[nodiscard]] std::span<const Alternative> alternatives();

// Names as typed: "all" or some of them, each once. UsageError with the nearest for an unknown one.
[[nodiscard]] std::vector<Alternative> find_alternatives(std::span<const std::string> names);

// The scenario with the alternative's changes; what it says about compression beyond the method
// (density, costs) stays.
[[nodiscard]] io::Json with_alternative(io::Json scenario, const Alternative& alternative);

struct AlternativesOptions {
  int jobs = 1;
  bool break_even = false; // bandwidths at which a compression meets overlapped dense training
};

// All alternatives for every combination of the axes (may be none): rows with `algorithm`, the
// varied fields, summary keys, `ratio` to the best of the same combination, `assumes`, and with
// `break_even` the list `break_even_Bps` (empty: none between 10 Mb/s and 10 Tb/s). Sorted by
// combination, then time.
[[nodiscard]] Comparison compare_alternatives(const io::Json& scenario, std::vector<Axis> axes,
                                              std::span<const Alternative> chosen, Files& files,
                                              const AlternativesOptions& options);

} // namespace stepsim::study
