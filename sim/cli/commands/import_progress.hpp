#pragma once
// How far an import is: files are told by their bytes as they lie on the disk.
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "cli/shell/app.hpp"

namespace stepsim::cli {

// For files that are read as a whole: how long that takes, about.
void expect_reading(const std::vector<std::string>& files, const Common& common);

// For files that are read piece by piece: counts megabytes. To be called with the bytes that were
// read so far; empty where there is less than one megabyte, or a size is not known.
[[nodiscard]] std::function<void(std::uint64_t bytes)>
counting_bytes(const std::vector<std::string>& files, const Common& common);

} // namespace stepsim::cli
