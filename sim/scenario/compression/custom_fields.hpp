#pragma once
// Reads the keys of a custom compressor, which a scenario describes by formulas
// (coll/compress/custom_compressor.hpp).
#include <cstdint>
#include <optional>
#include <string_view>

#include "coll/compress/compression.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// The value of `key`, which may be a number >= 0, a quantity such as "5us" or "1MB", or a formula
// in the variables n, P and density (coll::kCustomVariables); 0 if the key is left out. Anything
// else adds a problem.
[[nodiscard]] base::Formula read_formula(io::Fields& fields, std::string_view key);

// Adds a problem if bytes_per_worker is missing, if a density is missing that a formula uses or is
// given though no formula uses it, and, where `elements` and `ranks` are known, for every formula
// whose value for the whole gradient is negative or not finite.
void check_custom(io::Fields& fields, const coll::Compression& compression,
                  std::optional<std::int64_t> elements, std::optional<std::int64_t> ranks);

} // namespace stepsim::study
