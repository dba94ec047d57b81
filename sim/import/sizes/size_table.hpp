#pragma once
// A table of parameters, `name,elements[,dtype]`, as `import --sizes` takes it (INP 1.5): one row
// per tensor, in the order in which the model registers its parameters or in which gradients become
// ready. Elements are counts; an element type is a word of PyTorch ("bfloat16", "c10::BFloat16").
#include <cstdint>
#include <string>
#include <vector>

#include "files/import_source.hpp"

namespace stepsim::io {

struct NamedSize {
  std::string name;
  std::int64_t elements{};
  std::string dtype; // our word; empty = the table does not say
};

struct SizeTable {
  std::string file; // for messages
  train::SourceFile source;
  std::vector<NamedSize> rows; // at least one
};

// Throws InputError `sizes.csv:3: elements: must be a whole number >= 1, got 12x`: unknown or
// missing columns, bad counts, unknown types, no rows.
[[nodiscard]] SizeTable read_size_table(const std::string& path, std::uint64_t max_bytes);

} // namespace stepsim::io
