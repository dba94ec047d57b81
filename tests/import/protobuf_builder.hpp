#pragma once
// Messages of protocol buffers for tests, written from the description of the wire format.
#include <cstdint>
#include <string>
#include <string_view>

namespace stepsim::io::wire {

inline std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 128; value /= 128) {
    bytes += static_cast<char>(value % 128 + 128);
  }
  return bytes + static_cast<char>(value);
}
inline std::string number(unsigned field, std::uint64_t value) {
  return varint(field * 8) + varint(value);
}
inline std::string text(unsigned field, std::string_view bytes) {
  return varint(field * 8 + 2) + varint(bytes.size()) + std::string(bytes);
}
inline std::string framed(const std::string& message) { return varint(message.size()) + message; }

// One file: metadata, then nodes.
inline std::string metadata() { return framed(text(1, "0.0.4")); }

struct Node {
  std::uint64_t id{};
  std::string name;
  unsigned type{};
  std::uint64_t duration{}, start{};
  std::string attributes{};   // as of attribute()
  std::string dependencies{}; // as of number(5, id)
};
inline std::string attribute(std::string_view name, const std::string& value) {
  return text(10, text(1, name) + value);
}
inline std::string framed(const Node& node) {
  return framed(number(1, node.id) + text(2, node.name) + number(3, node.type) + node.dependencies +
                (node.start > 0 ? number(6, node.start) : "") +
                (node.duration > 0 ? number(7, node.duration) : "") + node.attributes);
}
inline std::string compute(std::uint64_t id, std::string name, std::uint64_t duration) {
  return framed(Node{.id = id, .name = std::move(name), .type = 4, .duration = duration});
}
// A collective with its size as an int64.
inline std::string collective(std::uint64_t id, std::string name, std::uint64_t op,
                              std::uint64_t bytes, std::uint64_t duration = 0) {
  return framed(Node{.id = id,
                     .name = std::move(name),
                     .type = 7,
                     .duration = duration,
                     .attributes = attribute("comm_type", number(9, op)) +
                                   attribute("comm_size", number(9, bytes))});
}

} // namespace stepsim::io::wire
