#pragma once
// Named ways to exchange gradients, each of them a few changes to a scenario. `compare
// --algorithms` runs them on one workload and network, and lists the assumptions of each
// (assumptions.hpp).
//
//   ddp        /communication/schedule = ddp
//   topk       /communication/compression/method = topk, /communication/schedule = single
//   pipe_sgd   /training/algorithm = pipe_sgd, /communication/schedule = single
//
// The changes start from synchronous training without compression. Every row of the tables of
// schedules (buckets/planners.hpp) and of compression methods
// (collectives/compress/compression.hpp) whose `compared` is true is an alternative;
// alternatives.cpp lists a few more.
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "document/json.hpp"
#include "study/sweep/grid.hpp"

namespace stepsim::study {

struct Alternative {
  std::string_view name;
  std::string_view summary;  // in words, for help
  std::string changes;       // a JSON object: pointer -> value
  std::string_view defaults; // a JSON object, too: for keys that the scenario lacks; "" = none
};

[[nodiscard]] std::span<const Alternative> alternatives();

// The alternatives of these names, each once; the name "all" stands for every alternative. Throws
// UsageError for an unknown name, with the nearest known one.
[[nodiscard]] std::vector<Alternative> find_alternatives(std::span<const std::string> names);

// The changes of the alternative, for help: "compression/method=topk, schedule=single". The prefix
// /communication/ is left out; other pointers are whole.
[[nodiscard]] std::string changes_text(const Alternative& alternative);

// Throws UsageError if --set or --over sets a key that an alternative sets itself (one of its
// changes, the training algorithm or the compression method), because the name of its row would be
// wrong: "--over: /communication/schedule is set by algorithm ddp". `set` has the pointers and
// values of --set, which the scenario holds already. A whole object in `set`, for example
// /communication, is refused only if it gives such a key a value other than "sync_sgd" or "none".
void refuse_contradictions(std::span<const Alternative> chosen,
                           std::span<const std::pair<std::string, io::Json>> set,
                           std::span<const Axis> over);

// The scenario with the changes of the alternative, and with its defaults for keys that neither the
// scenario nor `axes` set. Other keys of the compression (density, costs) keep their values.
[[nodiscard]] io::Json with_alternative(io::Json scenario, const Alternative& alternative,
                                        std::span<const Axis> axes = {});

// Names of the keys, such as "density", whose defaults with_alternative() fills in.
[[nodiscard]] std::vector<std::string>
filled_in(const io::Json& scenario, const Alternative& alternative, std::span<const Axis> axes);

// Whether the scenario names a known compression method other than "none".
[[nodiscard]] bool has_compression(const io::Json& scenario);

} // namespace stepsim::study
