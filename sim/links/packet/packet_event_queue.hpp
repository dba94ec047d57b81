#pragma once
// Pending events of the packet level in the order (time, class, key, seq, id); class and key are
// one word. No event may be earlier than the last one that left.
#include <algorithm>

#include "links/packet/packet.hpp"

namespace stepsim::links {

struct PacketEvent {
  Picoseconds time{};
  std::uint64_t key{};
  std::uint32_t seq{};
  std::uint32_t id{};

  friend auto operator<=>(const PacketEvent&, const PacketEvent&) = default;
};

class PacketEventQueue {
public:
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return heap_.size(); }
  [[nodiscard]] Picoseconds next_time() const {
    assert(!empty() && "an empty queue has no next event");
    return heap_.front().time;
  }
  [[nodiscard]] bool any_at(Picoseconds now) const { return !empty() && next_time() == now; }

  void push(const PacketEvent& event) {
    heap_.push_back(event);
    std::ranges::push_heap(heap_, std::ranges::greater{});
  }
  PacketEvent pop() {
    assert(!empty() && "an empty queue has no next event");
    std::ranges::pop_heap(heap_, std::ranges::greater{});
    const PacketEvent event = heap_.back();
    heap_.pop_back();
    return event;
  }

private:
  std::vector<PacketEvent> heap_;
};

} // namespace stepsim::links
