#pragma once
// CRC-32 as in zip archives (ISO 3309, polynomial 0x04c11db7), at the speed of memory: zlib's needs
// about a nanosecond per byte, which is as long as the values of a binary sweep take to compute.
#include <cstdint>
#include <string_view>

namespace stepsim::io {

// Continues the CRC-32 `crc` of earlier bytes (0 for none) over `bytes`.
[[nodiscard]] std::uint32_t crc32_of(std::string_view bytes, std::uint32_t crc = 0);

} // namespace stepsim::io
