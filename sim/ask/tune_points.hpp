#pragma once
// Points of the curve of a knob: one run of the scenario per value.
#include <optional>
#include <string>
#include <vector>

#include "scenario/files.hpp"
#include "sweep/rows.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct TunePoint {
  io::Json value;                         // null: a reference that does not have the knob
  std::optional<double> iteration_time_s; // empty if the run failed
  io::Json record;                        // flat, as in a sweep; null where nothing was run
  std::string error;                      // "" if the run did not fail
};

// The point of a value from the flat record of its run, as `rows_of` and `row_of` give it.
[[nodiscard]] TunePoint tune_point(io::Json record, io::Json value);

// Runs the scenario with each value at `pointer` in turn: one point per value, in their order. A
// value that fails gives a point with its error. Warnings are added, each once. Throws InputError
// if none of a sample of the values can be parsed.
[[nodiscard]] std::vector<TunePoint> run_points(const io::Json& scenario,
                                                const std::string& pointer,
                                                const std::vector<io::Json>& values, Files& files,
                                                const RowsOptions& options,
                                                std::vector<std::string>& warnings);

} // namespace stepsim::study
