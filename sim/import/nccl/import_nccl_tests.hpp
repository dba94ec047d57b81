#pragma once
// Imports logs of nccl-tests, text or JSON (IO 6), as samples, one set per program run. Sizes and
// times are as logged: means over the iterations of a loop, or one sample per iteration if a JSON
// file has them. Bandwidths are computed from the times and compared with the log. Host names and
// the environment are not kept.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "scenario/files/import_options.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

enum class NcclColumn { out_of_place, in_place };
// "out-of-place", "in-place"
[[nodiscard]] std::string_view name(NcclColumn column);

struct NcclTestsOptions {
  ImportOptions common;
  // One of kSampleOps: only tables of this operation are read. Tables without a title are taken for
  // it, and are an error without it.
  std::optional<std::string> op;
  std::optional<std::int64_t> ranks;            // number of ranks if the log does not list them
  NcclColumn column = NcclColumn::out_of_place; // a table without this column gives the other one
  // In text, rows without a time or with a time of 0 are skipped and counted instead of refused.
  bool skip_bad_times = false;
};

// Rows with wrong results, and tables of operations that stepsim does not have, are left out with a
// warning. Throws InputError for a log without rows, for a table whose operation or number of ranks
// neither log nor options give, for one with wrong results only or devices of two kinds, and if no
// table is left.
[[nodiscard]] Samples import_nccl_tests(const std::string& file, const NcclTestsOptions& options);

// busbw / algbw as in nccl-tests: 2(P-1)/P for an all-reduce on P ranks, (P-1)/P for all-gather,
// reduce-scatter and all-to-all, else 1.
[[nodiscard]] double bus_factor(std::string_view op, std::int64_t ranks);

} // namespace stepsim::io
