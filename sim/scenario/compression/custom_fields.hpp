#pragma once
// Reads the keys of a custom compressor, which a scenario describes by formulas
// (collectives/compress/custom_compressor.hpp).
#include <cstdint>
#include <optional>
#include <string_view>

#include "collectives/compress/compression.hpp"
#include "document/reader.hpp"

namespace stepsim::study {

// The value of `key`, which may be a number >= 0, a quantity such as "5us" or "1MB", or a formula
// in the variables n, P and density (collectives::kCustomVariables); 0 if the key is left out.
// Anything else adds a problem.
[[nodiscard]] base::Formula read_formula(io::Fields& fields, std::string_view key);

// Adds a problem if
//   - bytes_per_worker is missing
//   - a formula uses the density and none is given, or a density is given and no formula uses it
//   - the value of a formula for the whole gradient is negative or not finite; this is checked only
//     if `elements` (of the whole gradient) and `ranks` are known
void check_custom(io::Fields& fields, const collectives::Compression& compression,
                  std::optional<std::int64_t> elements, std::optional<std::int64_t> ranks);

} // namespace stepsim::study
