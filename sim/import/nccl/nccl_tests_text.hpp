#pragma once
// Reads the text form of nccl-tests logs (IO 6.1), with output of launchers and NCCL in between.
#include <string>
#include <string_view>
#include <vector>

#include "import/nccl/nccl_tests_table.hpp"

namespace stepsim::io {

// One table per program in the log, without rows if there is only a header; no table if no line
// looks like a header or a row. Throws InputError `FILE:LINE: message` for rows that do not fit
// their header or have sizes or times out of range; with `skip_bad_times`, a row whose first time
// is out of range is only counted.
[[nodiscard]] std::vector<NcclTable> read_nccl_text(std::string_view text, const std::string& file,
                                                    bool skip_bad_times = false);

} // namespace stepsim::io
