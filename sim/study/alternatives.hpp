#pragma once
// Named ways to exchange gradients, each of them a few changes to a scenario. `compare
// --algorithms` runs them on one workload and network, and lists the assumptions of each
// (assumptions() below).
//
//   ddp        /communication/schedule = ddp
//   topk       /communication/compression/method = topk, /communication/schedule = single
//   pipe_sgd   /training/algorithm = pipe_sgd, /communication/schedule = single
//
// The changes start from synchronous training without compression. Every row of the tables of
// schedules (buckets/planners.hpp) and of compression methods
// (collectives/compress/compression.hpp) whose `compared` is true is an alternative;
// alternatives.cpp lists a few more.

#include "study/compare.hpp"

namespace stepsim::study {

struct Alternative {
  std::string_view name;
  std::string_view summary; // in words, for help
  io::Object changes;       // pointer -> value
  io::Object defaults;      // the same, for keys that the scenario lacks
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
// scenario nor `axes` set. Other keys of the compression (such as its costs) keep their values.
[[nodiscard]] io::Json with_alternative(io::Json scenario, const Alternative& alternative,
                                        std::span<const Axis> axes = {});

// Names of the keys whose defaults with_alternative() fills in.
[[nodiscard]] std::vector<std::string>
filled_in(const io::Json& scenario, const Alternative& alternative, std::span<const Axis> axes);

// Whether the scenario names a known compression method other than "none".
[[nodiscard]] bool has_compression(const io::Json& scenario);

// The assumptions behind a row of `compare --algorithms`, in words. The text is made from the
// scenario as it was run, with every default filled in:
//
//   "one message after backward; error feedback; density 0.001 by default; compressing is free"
//
// "by default" marks values that `compare --algorithms` fills in because the scenario lacks them.

// The text above for one run; empty if there is nothing to list. `record` is the flat summary of
// the run. `filled_in` has the names of the keys that got a default.
[[nodiscard]] std::string assumptions(const Scenario& scenario, const io::Json& record,
                                      const std::vector<std::string>& filled_in);

// The table of `compare --algorithms` and `compare --rows`: alternatives of a base scenario
// (alternatives.hpp) and further whole scenarios, each run at every combination of the axes.

// A scenario of `compare --rows`, which does not derive from the base scenario.
struct NamedScenario {
  std::string name;
  io::Json tree; // short forms expanded
};

// Runs all of `chosen` and `others` at every combination of `axes`, which may be empty. A row has
//   algorithm          name of the alternative or scenario
//   the varied fields and the summary keys; staleness_mean is 0 for synchronous training
//   ratio              time of a batch / the least time of a batch of the same combination
//   assumes            the assumptions of the run in words (assumptions() below)
// and with `break_even` the comparison with overlapped dense training at 10 Mb/s to 10 Tb/s
// (null for rows without compression and rows that failed):
//   break_even_Bps     [bandwidth at which both are equally fast, ..]
//   compression_wins   [{from_Bps, to_Bps}, ..] open intervals in which compression is faster;
//                      from_Bps 0: from 10 Mb/s on, to_Bps null: up to 10 Tb/s
// Rows are sorted by combination, then by the time of a batch; failed rows come last in their
// combination, with null for `ratio` and `assumes`. `ranking` and `batches` of the Comparison stay
// empty. An alternative of which none of a sample of combinations can be parsed has no row but a
// warning with the reason. Throws InputError if that holds for all of them, or for one of `others`.
[[nodiscard]] Comparison compare_alternatives(const io::Json& scenario, std::vector<Axis> axes,
                                              std::span<const Alternative> chosen,
                                              std::span<const NamedScenario> others, Files& files,
                                              const SweepOptions& options, bool break_even = false);

} // namespace stepsim::study
