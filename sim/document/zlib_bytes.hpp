#pragma once
// Chunk size and pointer type for calls of zlib.
#include <cstddef>

namespace stepsim::io {

inline constexpr std::size_t kChunk = std::size_t{1} << 16; // bytes per call of zlib

// Converts to the pointer type of zlib, which only knows unsigned characters.
inline unsigned char* zlib_bytes(char* bytes) { return reinterpret_cast<unsigned char*>(bytes); }

} // namespace stepsim::io
