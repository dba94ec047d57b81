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

// Names of the keys that with_alternative fills in because nothing says them, such as "density".
[[nodiscard]] std::vector<std::string>
filled_in(const io::Json& scenario, const Alternative& alternative, std::span<const Axis> axes);

// Whether the scenario names a method of compression.
[[nodiscard]] bool has_compression(const io::Json& scenario);

} // namespace stepsim::study
