#pragma once
// Reads the wire format of protocol buffers, as far as execution traces need it. A message is a
// sequence of fields, each a key (field number and wire type, as a varint) and a value: a varint,
// four or eight bytes, or a length and as many bytes (a text, another message, packed numbers).
// Nothing is copied or recursive, and every length is checked against the bytes left.
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepsim::io {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number{};
  WireType type = WireType::varint;
  std::uint64_t value{};    // set for varint, fixed64 and fixed32
  std::string_view bytes{}; // set for bytes
};

// Reads a number of at most ten bytes, the least significant seven bits first, and removes it from
// `bytes`. Empty if the bytes end early or the number needs more than 64 bits.
[[nodiscard]] std::optional<std::uint64_t> take_varint(std::string_view& bytes);

// The fields of one message, in order. next() is empty after the last field or at damaged bytes;
// `damaged` tells the two apart.
class WireReader {
public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  [[nodiscard]] std::optional<WireField> next();
  [[nodiscard]] bool damaged() const { return damaged_; }

private:
  std::string_view rest_;
  bool damaged_ = false;
};

// Decodes a signed integer of type sint32 or sint64: 0, 1, 2, 3 stand for 0, -1, 1, -2.
[[nodiscard]] constexpr std::int64_t zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

} // namespace stepsim::io
