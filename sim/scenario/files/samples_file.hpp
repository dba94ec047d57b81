#pragma once
// Measured times of collectives (kind samples, IO 6.3): sets of (bytes, seconds), as JSON, or as
// CSV with the columns op, ranks, bytes, time_s and, if known, algorithm, pass, column,
// start_up, in any order; its rows with equal op, algorithm, ranks, column and start_up are one
// set. Importers of logs write them, `stepsim-calibrate fit` reads them. Sizes may repeat; `pass`
// numbers the repetitions if the source does.
#include "document/reader.hpp"
#include "layers/trace.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::io {

inline constexpr std::array<std::string_view, 9> kSampleOps{
    "broadcast",  "reduce",   "allreduce", "reduce_scatter", "allgather",
    "allgatherv", "alltoall", "sendrecv",  "pingpong"};

struct Sample {
  double bytes{};                     // >= 0
  double time_s{};                    // in the range measured_times()
  std::optional<std::int64_t> pass{}; // >= 0; empty if the source does not number repetitions
};

// One series of measurements. Only samples of one set may be fitted together.
struct SampleSet {
  std::string op;        // one of kSampleOps
  std::string algorithm; // "" = unknown
  std::int64_t ranks{};
  std::string device, dtype; // "" = unknown
  // Column of an nccl-tests log, "in-place" or "out-of-place", or variant and launch of gpu_bench,
  // "copy_engine plain"; "" = unknown.
  std::string column;
  links::StartUp start_up{};
  std::optional<std::int64_t> gpus_per_node; // empty = unknown
  std::vector<Sample> samples;
};

struct Samples {
  std::string file; // path, for error messages
  std::string name;
  layers::Source source;
  std::vector<SampleSet> sets;
  std::vector<std::string> warnings;
  std::size_t skipped{}; // rows of a log without a usable time; not written to files
};

// The allowed range of a measured time in any log: above 0 s and at most 1e9 s (30 years), so that
// sums, squares and ratios of times stay finite.
[[nodiscard]] constexpr Range measured_times() { return above_to(0, 1e9); }

// The readers throw InputError: for JSON with all problems by pointer, for CSV with the first one
// by line. Problems are an unknown operation, negative bytes, a time out of range, and a CSV file
// without rows.
[[nodiscard]] Samples parse_samples(const Json& json);
[[nodiscard]] Samples parse_samples_csv(std::string_view text, const std::string& file);
// Reads JSON or CSV, depending on the content. If the file has no `source`, it gets one with the
// name and digest of the file and with `importer`, the program and its version; if it has no
// `name`, the stem of the path.
[[nodiscard]] Samples read_samples(const std::string& path, std::string_view importer);

// Whether the beginning of a file is that of samples: an object with a key `sets`, or the CSV
// columns.
[[nodiscard]] bool looks_like_samples(std::string_view head);

[[nodiscard]] Json to_json(const Samples& samples);
// The flat form, with all columns but start_up, which no log tells (IO 6.3).
[[nodiscard]] std::string to_csv(const Samples& samples);

// Cost files (kind cost, MER 4.2, INP 1.10): the seconds of one message or exchange as a function
// of its bytes, as points of one operation, or as one line per operation and number of ranks.
// Points are only checked here (at least two, bytes > 0 and strictly ascending, seconds > 0);
// buckets::make_table_cost makes them monotone.

// measured: a line through transfer times without waiting. bound: an upper bound on the time of
// every exchange, because the measured times contain waiting.
enum class CostGrade { measured, bound };
inline constexpr auto kCostGrades = base::words<CostGrade>();

// T(bytes) = startup + bytes x per_byte of one operation, and the bus bandwidth that follows from
// it. An interval is the 90 % interval, or the range that a bound leaves open; an end that the
// measurement does not determine is empty.
struct LineCost {
  std::string op;
  std::int64_t ranks{};
  CostGrade grade{};
  double startup_s{}, per_byte_s{}, bus_bandwidth_Bps{};
  std::optional<double> startup_low_s, startup_high_s;
  std::optional<double> bus_bandwidth_low_Bps, bus_bandwidth_high_Bps;
  std::int64_t collectives{};               // number of measured collectives
  double smallest_bytes{}, largest_bytes{}; // range of the sizes that were measured
};

struct CostPoints {
  std::string name;
  std::string op;                               // "" if the file gives none
  std::int64_t ranks{};                         // 0 if the file gives none
  std::vector<std::pair<double, double>> table; // bytes, seconds; empty if `costs` has elements
  Json source{};                                // a text or an object; null if the file gives none
  std::vector<LineCost> costs{};
};

// Throws InputError with all problems found.
[[nodiscard]] CostPoints parse_cost(const Json& json);
// The file with its header; parse_cost() of the result gives an equal value.
[[nodiscard]] Json to_json(const CostPoints& cost);

// Reads the value of a key `table`, [[bytes, seconds], ...], of a cost file, a problem file or a
// scenario, or the points of a curve, whose seconds may not fall. Adds what is wrong with it to
// `problems`.
[[nodiscard]] std::vector<std::pair<double, double>>
parse_cost_table(const Json& table, Problems& problems, bool may_fall = true);

} // namespace stepsim::io
