#pragma once
// Reads the table of `import --sizes`, `name,elements[,dtype]` (INP 1.5): one row per tensor, in
// the order in which the model registers its parameters or in which gradients become ready. A dtype
// is a word of PyTorch ("bfloat16", "c10::BFloat16").
#include <cstdint>
#include <string>
#include <vector>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

struct NamedSize {
  std::string name;
  std::int64_t elements{};
  std::string dtype; // in stepsim's words; empty = not given
};

struct SizeTable {
  std::string file; // path or "<stdin>", for error messages
  layers::SourceFile source;
  std::vector<NamedSize> rows; // at least one
};

// Throws InputError for unknown or missing columns, wrong numbers, unknown dtypes and a table
// without rows: `sizes.csv:3: elements: must be a whole number >= 1, got 12x`.
[[nodiscard]] SizeTable read_size_table(const std::string& path, std::uint64_t max_bytes);

} // namespace stepsim::io
