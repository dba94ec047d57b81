#pragma once
// Logs of nccl-tests, text or JSON (IO 6), as samples: one set per program run. Sizes and times are
// taken as logged (means over the iterations of one loop; with per-iteration times of a JSON file
// one sample each), bandwidths are recomputed and only compared. Host names and environment are
// counted or skipped, never kept.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "files/import_options.hpp"
#include "files/samples_file.hpp"

namespace stepsim::io {

enum class NcclColumn { out_of_place, in_place };
// "out-of-place", "in-place"
[[nodiscard]] std::string_view name(NcclColumn column);

struct NcclTestsOptions {
  ImportOptions common;
  std::optional<std::string> op;     // of kSampleOps: only this one; names tables without a title
  std::optional<std::int64_t> ranks; // where the log does not list them
  NcclColumn column = NcclColumn::out_of_place; // the other one where a log has only that
  // In text, rows with a time of 0 or none are counted and not refused.
  bool skip_bad_times = false;
};

// Rows with wrong results are left out, each with a warning. Throws InputError: no rows, operation
// or ranks unknown, only wrong results, devices of two kinds.
[[nodiscard]] Samples import_nccl_tests(const std::string& file, const NcclTestsOptions& options);

// busbw / algbw of nccl-tests: 2(P-1)/P for an all-reduce, (P-1)/P for all-gather, reduce-scatter
// and all-to-all, else 1.
[[nodiscard]] double bus_factor(std::string_view op, std::int64_t ranks);

} // namespace stepsim::io
