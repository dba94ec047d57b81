#pragma once
// Imports logs of nccl-tests, text or JSON (IO 6), as samples, one set per program run. Sizes and
// times are as logged: means over the iterations of a loop, or one sample per iteration if a JSON
// file has them. Bandwidths are computed from the times and compared with the log. Host names and
// the environment are not kept.

#include "scenario/files/import_source.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

enum class NcclColumn { out_of_place, in_place };
inline constexpr auto kNcclColumns = base::words<NcclColumn>(
    {{NcclColumn::out_of_place, "out-of-place"}, {NcclColumn::in_place, "in-place"}});

// Why times of one rank are left out.
inline constexpr const char* kOneRank = "one rank exchanges nothing";

struct NcclTestsOptions {
  ImportOptions common;
  // One of kSampleOps: only tables of this operation are read. Tables without a title, and without
  // a command line of the program above them, are taken for it; without it the name of the file
  // says the operation, with a warning, or they are an error.
  std::optional<std::string> op;
  std::optional<std::int64_t> ranks; // number of ranks if the log does not list them, or not all
  NcclColumn column = NcclColumn::out_of_place; // a table without this column gives the other one
  // In text, rows without a time or with a time of 0 are skipped and counted instead of refused.
  bool skip_bad_times = false;
};

// Rows with wrong results, interrupted ones, those of another type or reduction than the first, and
// tables of operations that stepsim does not have, are left out with a warning. Throws InputError
// for a log without rows, for a table whose operation or number of ranks neither log nor options
// give, for one of several runs, with wrong results only, groups of unequal sizes or devices of two
// kinds, and if no table is left.
[[nodiscard]] Samples import_nccl_tests(const std::string& file, const NcclTestsOptions& options);

// "all_reduce_perf" -> "allreduce", also with a suffix of the build ("all_reduce_perf_mpi"); "" for
// a program whose operation stepsim does not have.
[[nodiscard]] std::string_view op_of_program(std::string_view name);

// busbw / algbw as in nccl-tests: 2(P-1)/P for an all-reduce on P ranks, (P-1)/P for all-gather,
// reduce-scatter and all-to-all, else 1.
[[nodiscard]] double bus_factor(std::string_view op, std::int64_t ranks);

// Tables of rows with two halves, out-of-place and in-place: the common form of text and JSON logs
// of nccl-tests. Used by import_nccl_tests() only.

struct NcclHalf {
  bool present = false;
  std::vector<double> times_s; // one, or one per iteration
  double wrong{};              // count of results; 0 also if they were not counted
  bool rounded = false;        // the time was printed with two digits
};

struct NcclRow {
  std::int64_t bytes{};
  std::string kind{};             // kind_of() its type and reduction
  std::array<NcclHalf, 2> halves; // [NcclColumn]
};

// "float sum"; older versions leave redop blank where others have "none".
[[nodiscard]] inline std::string kind_of(std::string_view type, std::string_view redop) {
  const bool reduces = !redop.empty() && redop != "none";
  return std::string(type) + (reduces ? " " + std::string(redop) : "");
}

struct NcclTable {
  std::string title;                   // "all_reduce_perf", "" = unknown
  std::set<std::int64_t> ranks;        // their numbers, as listed
  std::optional<std::int64_t> twice{}; // a rank that is listed again
  std::set<std::string> devices;       // kinds of devices
  std::string dtype;                   // "" = unknown
  std::string redop;                   // "sum", "none" of operations that add nothing, "" = unknown
  std::vector<NcclRow> rows;
  // Group -> host -> ranks. Each group runs an operation of its own at the same time.
  std::map<std::int64_t, std::map<std::string, std::int64_t>> groups;

  // Numbers that no rank has are left out.
  void add_rank(std::int64_t rank, std::int64_t group, const std::string& host);
  std::optional<double> logged_busbw; // average, bytes/s
  std::string warning{};              // about its form; "" = none
  // With skip_bad_times: rows left out because the time of their first half, as printed, is
  // missing, 0 or otherwise out of range.
  std::size_t skipped{};
  std::int64_t interrupted{}; // rows in which other output stands, or which end with the log
};

// Reads the text form (IO 6.1), with output of launchers and NCCL in between.
// One table per program in the log, without rows if there is only a header; no table if no line
// looks like a header or a row. Throws InputError `FILE:LINE: message` for rows that do not fit
// their header or have sizes or times out of range; with `skip_bad_times`, a row whose first time
// is out of range is only counted.
[[nodiscard]] std::vector<NcclTable> read_nccl_text(std::string_view text, const std::string& file,
                                                    bool skip_bad_times = false);

} // namespace stepsim::io
