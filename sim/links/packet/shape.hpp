#pragma once
// Sizes and drop class of the data packets of a message, by their index; all packets but the last
// are full.
//   wire = payload + header + overhead
// Source: PKT 3.2, 5.1, 5.6.
#include <algorithm>
#include <cstdint>

#include "base/counter_hash.hpp"
#include "links/packet/message.hpp"

namespace stepsim::links {

inline constexpr std::uint64_t kMagnitudeStream = 4; // random stream of DropRule::Kind::by_size

struct MessageShape {
  std::uint32_t packets{};
  std::uint16_t full_payload{}, last_payload{};
  std::uint16_t extra_bytes{}; // header and overhead
  bool protected_ect = false;  // protected packets are ECN-capable
  DropRule rule{};
};

[[nodiscard]] inline DropClass drop_class(const DropRule& rule, std::uint32_t seq,
                                          std::uint64_t seed) {
  switch (rule.kind) {
  case DropRule::Kind::all_protected:
    return DropClass::protected_;
  case DropRule::Kind::every:
    return seq % rule.every == rule.offset ? DropClass::protected_ : DropClass::droppable;
  case DropRule::Kind::by_size: {
    const double draw =
        base::u01(seed, kMagnitudeStream, rule.iteration, rule.worker, rule.tensor, seq);
    return draw < rule.large_fraction ? rule.large : rule.small;
  }
  }
  return DropClass::protected_;
}

[[nodiscard]] inline std::uint16_t payload_of(const MessageShape& shape, std::uint32_t seq) {
  return seq + 1 == shape.packets ? shape.last_payload : shape.full_payload;
}

// Sets sizes, class and ECN capability of data packet `seq` of the message.
inline void shape_data(Packet& packet, const MessageShape& shape, std::uint32_t seq,
                       std::uint64_t seed) {
  packet.payload = payload_of(shape, seq);
  packet.wire = static_cast<std::uint16_t>(packet.payload + shape.extra_bytes);
  packet.drop_class = drop_class(shape.rule, seq, seed);
  packet.ect = shape.protected_ect && packet.drop_class == DropClass::protected_;
}

} // namespace stepsim::links
