#pragma once
// The flags of compressed exchanges in `stepsim collective` (SPA 1): their values for the grid, and
// whether they mean anything to the chosen methods.
#include <span>
#include <string>
#include <string_view>

#include "cli/collective/collective_grid.hpp"
#include "coll/compress/compression.hpp"

namespace CLI {
class App;
}

namespace stepsim::cli {

// As typed; "" = not given.
struct CompressionFlags {
  std::string density, k, index_bytes, value_bytes, allgather, broadcast;
};

// Adds the flags to `app` as one group of the help.
void add_compression_flags(CLI::App& app, CompressionFlags& flags);

// Adds an axis for every flag that is given. Throws UsageError `--density 1.5: must be in (0, 1],
// got 1.5`.
void add_compression_axes(CollectiveGrid& grid, const CompressionFlags& flags);

// Throws UsageError where a key of `given` (of flags and of --param) means nothing to any of the
// methods, where not exactly one of density and k is given to a sparse one, and where a method
// lacks a parameter that it needs.
void check_compression_keys(std::span<const coll::CompressionMethod> methods,
                            const CollectiveGrid& grid, std::span<const std::string_view> given);

} // namespace stepsim::cli
