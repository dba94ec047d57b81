#pragma once
// The points of a knob's curve: one run of the scenario per value of the knob.
#include <optional>
#include <string>
#include <vector>

#include "document/json.hpp"
#include "scenario/files.hpp"
#include "study/sweep/rows.hpp"

namespace stepsim::study {

struct TunePoint {
  io::Json value;                         // value of the knob; null for a reference without it
  std::optional<double> iteration_time_s; // empty if the run failed
  io::Json record;                        // flat record as in a sweep; null if nothing was run
  std::string error;                      // empty if the run did not fail
};

// The point of `value`. `record` is the flat record of the run, as rows_of() and row_of()
// (sweep/rows.hpp) return it.
[[nodiscard]] TunePoint tune_point(io::Json record, io::Json value);

// Runs the scenario with each of `values` at `pointer` and returns one point per value, in the same
// order. A value with which the scenario cannot be parsed, or whose run fails, gives a point with
// an error. Each new warning is appended to `warnings` once. Throws InputError if the scenario can
// be parsed with none of up to 16 values that are spread over the list (check_some_point()).
[[nodiscard]] std::vector<TunePoint> run_points(const io::Json& scenario,
                                                const std::string& pointer,
                                                const std::vector<io::Json>& values, Files& files,
                                                const RowsOptions& options,
                                                std::vector<std::string>& warnings);

} // namespace stepsim::study
