#pragma once
// What all importers take besides their own options (IO 2).
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "train/workload/trace.hpp"

namespace stepsim::io {

// `attribution` and `licence` are those of the data, not of the program; they travel with the
// result, because a trace that is published again needs both.
struct ImportOptions {
  std::uint64_t max_bytes = std::uint64_t{8} << 30; // of each input, inflated
  std::string importer = "stepsim";                 // with its version, into `source`
  std::string name;                                 // of the result; empty: the first file's stem
  std::optional<std::string> attribution;
  std::optional<std::string> licence;
  // Called with the bytes of the files, as they lie on the disk, that were read so far; may be
  // empty. Called by importers that read large files piece by piece.
  std::function<void(std::uint64_t bytes)> read{};
};

} // namespace stepsim::io
