// Programs of nccl-tests and the operations that they measure.
#include "import/nccl/nccl_tests_table.hpp"

#include <algorithm>
#include <utility>

namespace stepsim::io {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kTitles{{
    {"all_reduce_perf", "allreduce"},
    {"all_gather_perf", "allgather"},
    {"reduce_scatter_perf", "reduce_scatter"},
    {"broadcast_perf", "broadcast"},
    {"reduce_perf", "reduce"},
    {"alltoall_perf", "alltoall"},
    {"sendrecv_perf", "sendrecv"},
}};

} // namespace

std::string_view op_of_title(std::string_view title) {
  const auto* found = std::ranges::find(kTitles, title, [](const auto& row) { return row.first; });
  return found == kTitles.end() ? std::string_view() : found->second;
}

} // namespace stepsim::io
