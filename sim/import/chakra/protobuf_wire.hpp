#pragma once
// The wire format of protocol buffers, as far as execution traces need it: a message is a row of
// fields, each a key (field number and wire type, as a varint) and a value, which is a varint, four
// or eight bytes, or a length and as many bytes (a text, another message, packed numbers). Nothing
// is copied, nothing recurses, and every length is checked against the bytes that are there.
#include <cstdint>
#include <optional>
#include <string_view>

namespace stepsim::io {

enum class WireType : std::uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };

struct WireField {
  std::uint32_t number{};
  WireType type = WireType::varint;
  std::uint64_t value{};    // of varint, fixed64 and fixed32
  std::string_view bytes{}; // of bytes
};

// At most ten bytes, the least significant seven bits first. Removes them from the front of
// `bytes`; empty where the bytes end early or the number needs more than 64 bits.
[[nodiscard]] std::optional<std::uint64_t> take_varint(std::string_view& bytes);

// The fields of one message, in order. After the last one, next() is empty and `damaged` tells
// whether the message ended well.
class WireReader {
public:
  explicit WireReader(std::string_view message) : rest_(message) {}
  [[nodiscard]] std::optional<WireField> next();
  [[nodiscard]] bool damaged() const { return damaged_; }

private:
  std::string_view rest_;
  bool damaged_ = false;
};

// What the integer types of the wire format mean.
[[nodiscard]] constexpr std::int64_t zigzag(std::uint64_t value) {
  return static_cast<std::int64_t>(value >> 1) ^ -static_cast<std::int64_t>(value & 1);
}

} // namespace stepsim::io
