#pragma once
// Warnings about several files of one job.
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_rank.hpp"

namespace stepsim::io {

// The warnings of a single file as they are. With several files, warnings that differ only in their
// numbers become one: "rank0 and 7 other files (with other numbers): 12 steps ..", which has the
// name and the numbers of the first such file.
[[nodiscard]] std::vector<std::string> common_warnings(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
