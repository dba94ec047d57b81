#pragma once
// What both forms of nccl-tests logs become first: tables of rows with two halves, out-of-place and
// in-place. Internal to import_nccl_tests.
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
  std::int64_t wrong{};        // 0 also where it was not checked
  bool rounded = false;        // printed with two digits
};

struct NcclRow {
  std::int64_t line{}; // 0 in JSON
  std::int64_t bytes{};
  std::array<NcclHalf, 2> halves; // [NcclColumn]
};

struct NcclTable {
  std::string title;                         // "all_reduce_perf", "" = unknown
  std::int64_t ranks{};                      // 0 = unknown
  std::map<std::string, std::int64_t> hosts; // ranks on each; counted only
  std::set<std::string> devices;             // kinds
  std::string dtype;                         // "" = none seen
  std::vector<NcclRow> rows;
  std::optional<double> logged_busbw; // average, bytes/s
  std::size_t skipped{};              // rows left out, their first time out of range
};

// "all_reduce_perf" -> "allreduce"; "" for programs that measure none of our operations.
[[nodiscard]] std::string_view op_of_title(std::string_view title);

} // namespace stepsim::io
