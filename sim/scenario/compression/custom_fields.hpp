#pragma once
// The keys of a compressor that a file describes by its data (coll/compress/custom_compressor.hpp).
#include <cstdint>
#include <optional>
#include <string_view>

#include "coll/compress/compression.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// A number, a quantity such as "5us" or "1MB", or a formula of coll::kCustomVariables; 0 where the
// key is left out.
[[nodiscard]] base::Formula read_formula(io::Fields& fields, std::string_view key);

// What is missing or impossible: bytes_per_worker, a density that a formula uses, a value that is
// negative or no number for the whole gradient (`elements` and `ranks` where they are known).
void check_custom(io::Fields& fields, const coll::Compression& compression,
                  std::optional<std::int64_t> elements, std::optional<std::int64_t> ranks);

} // namespace stepsim::study
