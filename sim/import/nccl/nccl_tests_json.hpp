#pragma once
// Reads the JSON form of nccl-tests logs, written with -J (IO 6.2).
#include <string>
#include <string_view>
#include <vector>

#include "import/nccl/nccl_tests_table.hpp"

namespace stepsim::io {

// One table per file, because the program writes one at a time. Throws InputError as parse_json()
// does, and for members of `results` that are missing or out of range.
[[nodiscard]] std::vector<NcclTable> read_nccl_json(std::string_view text, const std::string& file);

} // namespace stepsim::io
