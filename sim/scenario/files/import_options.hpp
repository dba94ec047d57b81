#pragma once
// The options that all importers have; each adds its own (IO 2).
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "layers/trace.hpp"

namespace stepsim::io {

// `attribution` and `licence` are those of the data, not of the program; they travel with the
// result, because a trace that is published again needs both.
struct ImportOptions {
  std::uint64_t max_bytes = std::uint64_t{8} << 30; // limit on each input, inflated
  std::string importer = "stepsim";                 // name and version, written to `source`
  std::string name; // name of the result; empty: the stem of the first file
  std::optional<std::string> attribution;
  std::optional<std::string> licence;
  // Progress: importers that read large files piece by piece call it with the (compressed) bytes of
  // all files read so far. May be empty.
  std::function<void(std::uint64_t bytes)> read{};
};

} // namespace stepsim::io
