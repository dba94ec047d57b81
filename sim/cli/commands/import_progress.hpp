#pragma once
// The progress line of an import, from the sizes of the input files on disk.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Gives the progress line an estimate of the duration, for files that are read as a whole.
void expect_reading(const std::vector<std::string>& files, const Common& common);

// Returns a function that updates the progress in MB, for files that are read piece by piece. The
// reader calls it with the number of bytes of all files read so far. Empty if all files together
// have less than 1 MB or a size is not known.
[[nodiscard]] std::function<void(std::uint64_t bytes)>
counting_bytes(const std::vector<std::string>& files, const Common& common);

} // namespace stepsim::cli
