#pragma once
// Warnings about several files of one job.
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_rank.hpp"

namespace stepsim::io {

// Of one file its warnings. What is true of several files is said once, with the numbers of the
// first and how many others there are.
[[nodiscard]] std::vector<std::string> common_warnings(std::span<const KinetoRank> ranks);

} // namespace stepsim::io
