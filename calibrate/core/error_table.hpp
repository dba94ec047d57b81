#pragma once
// The table of predicted and measured times (CAL 11), one JSON Lines record per operation,
// algorithm, ranks and size, and the distribution of the errors, predicted / measured - 1. A row
// measured with more processes than cores, whose start-up dominates (flag start_up_bound), is
// shown, but the statistics leave it out (CAL D14).

#include "calibrate/core/points.hpp"

namespace stepsim::calibrate {

// The largest part of a predicted time.
inline constexpr std::array<std::string_view, 3> kBounds{"latency", "bandwidth", "reduction"};
// Conditions of a measured row: processor cores and not links limit the bandwidth; there are more
// processes than cores, so that start-ups dominate; the calibration did not measure such sizes.
inline constexpr std::array<std::string_view, 3> kFlags{"host_bound", "start_up_bound",
                                                        "extrapolated"};

struct ErrorRow {
  std::string op, algorithm;
  std::int64_t ranks{};
  std::int64_t bytes{};
  double predicted_s{}, measured_s{}; // > 0
  std::optional<double> min_s, p90_s; // least value and 90th percentile of the measured times
  std::string bound;                  // one of kBounds; "" = unknown
  std::vector<std::string> flags;     // some of kFlags
  // Bytes/s of the links (null = unknown), and the library with its settings; both are only copied.
  io::Json rate, transport;

  [[nodiscard]] double relative_error() const { return predicted_s / measured_s - 1; }
  [[nodiscard]] bool has(std::string_view flag) const;
  [[nodiscard]] bool counts() const { return !has("start_up_bound"); }
  // The flags and the bound as text: "cores, not links, limit; bound by latency"; "" if there are
  // none.
  [[nodiscard]] std::string cause() const;
};

// Throws the problems of one record of a file of JSON Lines, with its line for their place.
[[noreturn]] void name_line(const InputError& error, const std::string& file, std::int64_t line);
// Reads all rows of a file, at least one. Throws InputError that names the line:
// `errors.jsonl:3: measured_s must be > 0, got 0`.
[[nodiscard]] std::vector<ErrorRow> read_errors(const std::string& path);
[[nodiscard]] io::Json to_json(const ErrorRow& row);

struct ErrorSummary {
  std::string algorithm; // "" = all algorithms
  std::size_t rows{};    // number of rows, counted or not
  std::size_t counted{};
  std::optional<ErrorSpread> errors; // |error| of the counted rows; empty without one
};
// Summarises the rows of one algorithm, or of all ("").
[[nodiscard]] ErrorSummary summarise(std::span<const ErrorRow> rows, std::string algorithm = "");

struct ErrorReport {
  ErrorSummary all;
  std::vector<ErrorSummary> algorithms; // in the order of first appearance
  std::vector<ErrorRow> worst;          // at most five of all rows, largest |error| first
  std::size_t host_bound{};             // number of rows with this flag
};
[[nodiscard]] ErrorReport report_of(std::span<const ErrorRow> rows);
[[nodiscard]] io::Json to_json(const ErrorReport& report);

// The figure of measured over predicted times (CAL 11), both axes logarithmic. A prediction is
// right on the line of equality. Rows that are not counted (ErrorRow::counts) are hollow. Each
// algorithm has its own marker, or its own panel if there are more algorithms than markers
// (plot::kRanks).

// The figure as SVG. Needs at least one row (asserted).
[[nodiscard]] std::string error_plot(std::span<const ErrorRow> rows);

} // namespace stepsim::calibrate
