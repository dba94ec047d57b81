#pragma once
// Imports the collectives of a Chakra execution trace as samples of times (INP 2, table).
#include <cstdint>
#include <optional>
#include <string>

#include "scenario/files/import_options.hpp"
#include "scenario/files/samples_file.hpp"

namespace stepsim::io {

// The durations of all collectives that have one, a size and an operation that samples know, as one
// set per operation and type. `ranks` replaces the number of ranks in the file and is required if
// the file has none. Throws InputError if there is no such collective or the number of ranks is
// unknown.
[[nodiscard]] Samples chakra_samples(const std::string& file, const ImportOptions& options,
                                     std::optional<std::int64_t> ranks);

} // namespace stepsim::io
