#pragma once
// The collectives of a Chakra execution trace as samples of times (INP 2, table).
#include <cstdint>
#include <optional>
#include <string>

#include "files/import_options.hpp"
#include "files/samples_file.hpp"

namespace stepsim::io {

// The durations of all collectives that have one. `ranks` is needed where the file does not say it.
// Throws InputError where no collective has a duration or the ranks are unknown.
[[nodiscard]] Samples chakra_samples(const std::string& file, const ImportOptions& options,
                                     std::optional<std::int64_t> ranks);

} // namespace stepsim::io
