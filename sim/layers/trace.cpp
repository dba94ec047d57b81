// The element types that traces name, with their sizes. One list for reader, writer and schema.
#include "layers/trace.hpp"

namespace stepsim::layers {

namespace {

constexpr std::array<std::string_view, 10> kDtypes{"float32", "float16", "bfloat16", "float64",
                                                   "int64",   "int32",   "int8",     "uint8",
                                                   "bool",    "float8"};
constexpr std::array<std::int64_t, kDtypes.size()> kDtypeBytes{4, 2, 2, 8, 8, 4, 1, 1, 1, 1};

} // namespace

std::span<const std::string_view> dtype_words() { return kDtypes; }

std::int64_t dtype_bytes(std::string_view dtype) {
  const auto* const found = std::find(kDtypes.begin(), kDtypes.end(), dtype);
  return found == kDtypes.end() ? 0
                                : kDtypeBytes[static_cast<std::size_t>(found - kDtypes.begin())];
}

} // namespace stepsim::layers
