#pragma once
// A small sweep at once: every combination of the axes run with threads, one flat record each (as
// in a sweep's file), in point order. What `solve`, `tune` and `compare --algorithms` look at.
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/work_estimate.hpp"
#include "scenario/files.hpp"
#include "sweep/sweep_file.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct RowsOptions {
  int jobs = 1;                     // threads
  double max_seconds = kMaxSeconds; // as in SweepOptions
  // As in SweepOptions; may be empty.
  std::function<void(std::int64_t done, std::int64_t total)> progress;
};

struct Rows {
  io::Array records;
  std::vector<std::string> warnings; // each once
};

// A point that fails is a record with its `error`. Throws InputError if none of a sample of points
// can be parsed (check_some_point), and for a collective.
[[nodiscard]] Rows rows_of(const Sweep& sweep, Files& files, const RowsOptions& options);
// Runs one scenario as a sweep of one point. Throws InputError if it cannot be parsed,
// SimulationError if its run fails.
[[nodiscard]] io::Json row_of(const io::Json& scenario, Files& files);

// A number of a record; empty where it is null or absent.
[[nodiscard]] std::optional<double> number_in(const io::Json& record, std::string_view key);
// What went wrong at the point, "" if nothing did.
[[nodiscard]] std::string error_in(const io::Json& record);
// Adds those warnings that `to` does not hold yet.
void append_each_once(std::vector<std::string>& to, std::span<const std::string> warnings);

} // namespace stepsim::study
