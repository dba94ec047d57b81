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
  std::int64_t line{}; // 0 in JSON
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

// "all_reduce_perf" -> "allreduce"; "" for a program whose operation stepsim does not have.
[[nodiscard]] std::string_view op_of_title(std::string_view title);

} // namespace stepsim::io
