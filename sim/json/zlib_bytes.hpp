#pragma once
// Chunk size and pointer type of the calls to zlib, for reading and for writing.
#include <cstddef>

namespace stepsim::io {

inline constexpr std::size_t kChunk = std::size_t{1} << 16; // bytes per call of zlib

// Bytes as zlib takes them: its interface knows unsigned characters only.
inline unsigned char* zlib_bytes(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

} // namespace stepsim::io
