#pragma once
// Tables of rows with two halves, out-of-place and in-place: the common form of text and JSON logs
// of nccl-tests. Used by import_nccl_tests() only.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "import/nccl/import_nccl_tests.hpp"

namespace stepsim::io {

struct NcclHalf {
  bool present = false;
  std::vector<double> times_s; // one, or one per iteration
  double wrong{};              // results, as printed; 0 also if they were not checked
  bool rounded = false;        // the time was printed with two digits
};

struct NcclRow {
  std::int64_t bytes{};
  std::array<NcclHalf, 2> halves; // [NcclColumn]
};

struct NcclTable {
  std::string title;                         // "all_reduce_perf", "" = unknown
  std::int64_t ranks{};                      // 0 = unknown
  std::map<std::string, std::int64_t> hosts; // host -> ranks
  std::set<std::string> devices;             // kinds of devices
  std::string dtype;                         // "" = unknown
  std::vector<NcclRow> rows;
  std::optional<double> logged_busbw; // average, bytes/s
  // With skip_bad_times: rows left out because the time of their first half, as printed, is
  // missing, 0 or otherwise out of range.
  std::size_t skipped{};
};

// Reads the JSON form, written with -J (IO 6.2).
// One table per file, because the program writes one at a time. Throws InputError as parse_json()
// does, and for members of `results` that are missing or out of range.
[[nodiscard]] std::vector<NcclTable> read_nccl_json(std::string_view text, const std::string& file);

// Reads the text form (IO 6.1), with output of launchers and NCCL in between.
// One table per program in the log, without rows if there is only a header; no table if no line
// looks like a header or a row. Throws InputError `FILE:LINE: message` for rows that do not fit
// their header or have sizes or times out of range; with `skip_bad_times`, a row whose first time
// is out of range is only counted.
[[nodiscard]] std::vector<NcclTable> read_nccl_text(std::string_view text, const std::string& file,
                                                    bool skip_bad_times = false);

} // namespace stepsim::io
