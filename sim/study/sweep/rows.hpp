#pragma once
// Runs a small sweep in memory: every combination of the axes, with threads. The result has one
// flat record per point, as in the file of a sweep, in point order. `solve`, `tune` and
// `compare --algorithms` use it.

#include "study/sweep/sweep.hpp"

namespace stepsim::study {

struct Rows {
  io::Array records;
  std::vector<std::string> warnings; // each once
  std::int64_t points{};             // of the sweep, also those that were not run
  std::int64_t failed{};
};

// Runs all points. A failed point gives a record with its `error`. Throws InputError if none of a
// sample of points can be parsed (check_some_point()), and if the base is a collective.
[[nodiscard]] Rows rows_of(const Sweep& sweep, Files& files, const SweepOptions& options);
// The records of a sweep that ran into a text of JSON Lines, behind its header.
[[nodiscard]] io::Array records_of(std::string_view output);
// Runs one scenario as a sweep of one point. Throws InputError if it cannot be parsed,
// SimulationError if its run fails.
[[nodiscard]] io::Json row_of(const io::Json& scenario, Files& files,
                              double max_seconds = kMaxSeconds);

// A record without the keys of its place in a sweep. A varied field called "ratio" is called
// `ratio_name`.
[[nodiscard]] io::Json without_place(const io::Json& record,
                                     const std::string& ratio_name = "ratio");
// A number of a record; empty if it is null or missing.
[[nodiscard]] std::optional<double> number_in(const io::Json& record, std::string_view key);
// The interval of the iteration time of a record, s; empty where it has none.
[[nodiscard]] std::optional<base::Band> band_in(const io::Json& record);
// The error of a record; empty if its point did not fail.
[[nodiscard]] std::string error_in(const io::Json& record);
// Appends the warnings that `to` does not contain yet.
void append_each_once(std::vector<std::string>& to, std::span<const std::string> warnings);

} // namespace stepsim::study
