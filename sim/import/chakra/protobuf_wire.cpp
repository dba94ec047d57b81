#include "import/chakra/protobuf_wire.hpp"

#include <cstddef>

namespace stepsim::io {

namespace {

// Little-endian on every machine.
std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}

} // namespace

std::optional<std::uint64_t> take_varint(std::string_view& bytes) {
  constexpr std::size_t kLongest = 10;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < kLongest; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i == kLongest - 1 && byte > 1) {
      return std::nullopt;
    }
    value |= static_cast<std::uint64_t>(byte & 0x7fU) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<WireField> WireReader::next() {
  if (rest_.empty() || damaged_) {
    return std::nullopt;
  }
  damaged_ = true; // until the field is complete
  const auto key = take_varint(rest_);
  constexpr std::uint64_t kMostFieldNumber = (std::uint64_t{1} << 29) - 1;
  if (!key || *key >> 3 == 0 || *key >> 3 > kMostFieldNumber) {
    return std::nullopt;
  }
  WireField field;
  field.number = static_cast<std::uint32_t>(*key >> 3);
  field.type = static_cast<WireType>(*key & 7);
  const auto take = [&](std::uint64_t size) -> std::optional<std::string_view> {
    if (size > rest_.size()) {
      return std::nullopt;
    }
    const std::string_view part = rest_.substr(0, static_cast<std::size_t>(size));
    rest_.remove_prefix(part.size());
    return part;
  };
  std::optional<std::string_view> part;
  std::optional<std::uint64_t> number;
  switch (field.type) {
  case WireType::varint:
    number = take_varint(rest_);
    break;
  case WireType::fixed64:
  case WireType::fixed32:
    part = take(field.type == WireType::fixed64 ? 8 : 4);
    number = part ? std::optional(little_endian(*part)) : std::nullopt;
    break;
  case WireType::bytes:
    if (const auto size = take_varint(rest_)) {
      part = take(*size);
      field.bytes = part.value_or(std::string_view());
      number = part ? std::optional<std::uint64_t>(0) : std::nullopt;
    }
    break;
  default: // groups, which no current writer makes
    break;
  }
  if (!number) {
    return std::nullopt;
  }
  field.value = *number;
  damaged_ = false;
  return field;
}

} // namespace stepsim::io
