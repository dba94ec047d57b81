#pragma once
// Measured times of collectives (kind samples, IO 6.3): sets of (bytes, seconds), as JSON or as CSV
// with the columns op, ranks, bytes, time_s and, where they are known, algorithm, pass, column, in
// any order. Importers of logs make them, `stepsim-calibrate fit` reads them. Sizes may repeat:
// repetitions, told apart by `pass` where the source numbers them.
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "train/workload/trace.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

inline constexpr std::array<std::string_view, 9> kSampleOps{
    "broadcast",  "reduce",   "allreduce", "reduce_scatter", "allgather",
    "allgatherv", "alltoall", "sendrecv",  "pingpong"};

struct Sample {
  double bytes{};                   // >= 0
  double time_s{};                  // in measured_times()
  std::optional<std::int64_t> pass; // >= 0; empty where the source does not number repetitions
};

// What was measured in one series: samples of a set may be fitted together, samples of two sets
// never.
struct SampleSet {
  std::string op;        // of kSampleOps
  std::string algorithm; // "" = unknown
  std::int64_t ranks{};
  std::string device, dtype; // "" = unknown
  // "in-place" or "out-of-place" of nccl-tests, "copy_engine plain" (variant and launch) of
  // gpu_bench; "" = unknown.
  std::string column;
  std::optional<std::int64_t> gpus_per_node; // empty = unknown
  std::vector<Sample> samples;
};

struct Samples {
  std::string file; // for messages
  std::string name;
  train::Source source;
  std::vector<SampleSet> sets;
  std::vector<std::string> warnings;
  std::size_t skipped{}; // rows of a log without a usable time; not kept in files
};

// The range of a measured time in any log: above 0 s and at most 1e9 s (30 years). Sums, squares
// and ratios of such times stay finite.
[[nodiscard]] constexpr Range measured_times() { return above_to(0, 1e9); }

// All throw InputError: for JSON with all problems, by pointer; for CSV with the first one, by
// line. Such are an unknown operation, negative bytes, a time out of range, a CSV file without
// rows.
[[nodiscard]] Samples parse_samples(const Json& json);
[[nodiscard]] Samples parse_samples_csv(std::string_view text, const std::string& file);
// Either, by content. `source` gets the file's name and digest if it says nothing else, `name` the
// stem of the path if the file gives none.
[[nodiscard]] Samples read_samples(const std::string& path, std::string_view importer);

// Whether a text is a file of samples: an object with a key `sets`, or the CSV columns.
[[nodiscard]] bool looks_like_samples(std::string_view head);

[[nodiscard]] Json to_json(const Samples& samples);
// Without name, source, device, dtype, gpus_per_node and warnings, which have no columns.
[[nodiscard]] std::string to_csv(const Samples& samples);

} // namespace stepsim::io
