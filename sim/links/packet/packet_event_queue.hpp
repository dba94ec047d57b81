#pragma once
// Pending events of the packet level in the order (time, class, key, seq, id); class and key are
// one word. It is a calendar queue: near events are in unsorted buckets of equal width, the next
// bucket is sorted as a whole, and far events (timers) are in a heap:
//
//   now .. [sorted bucket + late arrivals] [bucket][bucket] ... 4096 buckets ... [heap]
//
// Push and pop cost O(1) while buckets hold few events. No event may be earlier than the last pop.
#include <algorithm>
#include <bit>

#include "links/packet/packet.hpp"

namespace stepsim::links {

struct PacketEvent {
  Picoseconds time{};
  std::uint64_t key{};
  std::uint32_t seq{};
  std::uint32_t id{};

  [[nodiscard]] bool before(const PacketEvent& other) const {
    if (time != other.time) {
      return time < other.time;
    }
    if (key != other.key) {
      return key < other.key;
    }
    return seq != other.seq ? seq < other.seq : id < other.id;
  }
};

class PacketEventQueue {
public:
  // `step` is the time between an event and the event that it usually causes. The width of a bucket
  // is the power of two above step / 1024, so that 4096 buckets reach at least four steps ahead.
  explicit PacketEventQueue(Picoseconds step)
      : shift_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(step / 1024)))),
        bucket_(kBuckets, kNone), used_(kBuckets / 64, 0) {}

  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] std::size_t size() const { return size_; }

  void push(const PacketEvent& event) {
    ++size_;
    const std::uint64_t slot = slot_of(event);
    if (slot <= base_) {
      late_.push_back(event);
      std::push_heap(late_.begin(), late_.end(), After{});
    } else if (slot < base_ + kBuckets) {
      put(event, slot);
    } else {
      far_.push_back(event);
      std::push_heap(far_.begin(), far_.end(), After{});
    }
  }

  // Whether an event is left at `now`, the time of the last pop (0 before the first).
  [[nodiscard]] bool any_at(Picoseconds now) const { return has_next() && next().time == now; }

  // Returns the time of the next event without opening a bucket, because events pushed later may
  // come before it.
  [[nodiscard]] Picoseconds next_time() const {
    assert(!empty() && "an empty queue has no next event");
    if (has_next()) {
      return next().time;
    }
    Picoseconds time = far_.empty() ? kNeverPs : far_.front().time;
    if (in_buckets_ > 0) {
      for (std::uint32_t node = bucket_[next_used() % kBuckets]; node != kNone;
           node = nodes_[node].next) {
        time = std::min(time, nodes_[node].event.time);
      }
    }
    return time;
  }

  PacketEvent pop() {
    assert(!empty() && "an empty queue has no next event");
    if (!has_next()) {
      next_bucket();
    }
    const PacketEvent event = next();
    if (late_is_next()) {
      std::pop_heap(late_.begin(), late_.end(), After{});
      late_.pop_back();
    } else {
      sorted_.pop_back();
    }
    --size_;
    return event;
  }

private:
  static constexpr std::uint64_t kBuckets = 4096;
  struct Node {
    PacketEvent event;
    std::uint32_t next{};
  };

  struct After {
    bool operator()(const PacketEvent& a, const PacketEvent& b) const { return b.before(a); }
  };
  [[nodiscard]] std::uint64_t slot_of(const PacketEvent& event) const {
    return static_cast<std::uint64_t>(event.time) >> shift_;
  }
  // Whether the bucket being emptied has events.
  [[nodiscard]] bool has_next() const { return !sorted_.empty() || !late_.empty(); }
  [[nodiscard]] const PacketEvent& next() const {
    return late_is_next() ? late_.front() : sorted_.back();
  }
  // Whether the next event is in late_: an event pushed into the open bucket may come before sorted
  // ones.
  [[nodiscard]] bool late_is_next() const {
    return sorted_.empty() || (!late_.empty() && late_.front().before(sorted_.back()));
  }

  // Inserts into a bucket. Buckets are lists in one array of nodes, so that none allocates memory.
  void put(const PacketEvent& event, std::uint64_t slot) {
    const std::uint64_t place = slot % kBuckets;
    std::uint32_t node = free_;
    if (node == kNone) {
      node = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({event, bucket_[place]});
    } else {
      free_ = nodes_[node].next;
      nodes_[node] = {event, bucket_[place]};
    }
    bucket_[place] = node;
    used_[place / 64] |= std::uint64_t{1} << (place % 64);
    ++in_buckets_;
  }

  // Returns the first slot after base_ with events; there must be one.
  [[nodiscard]] std::uint64_t next_used() const {
    const std::uint64_t from = base_ + 1;
    std::uint64_t word = from % kBuckets / 64;
    std::uint64_t bits = used_[word] & (~std::uint64_t{0} << (from % 64));
    std::uint64_t first = from - from % 64; // slot of the word's lowest bit
    while (bits == 0) {
      word = (word + 1) % (kBuckets / 64);
      first += 64;
      bits = used_[word];
    }
    return first + static_cast<std::uint64_t>(std::countr_zero(bits));
  }

  // Opens the next bucket with events, and moves events that are now near from the heap into
  // buckets.
  void next_bucket() {
    std::uint64_t next = in_buckets_ > 0 ? next_used() : ~std::uint64_t{0};
    if (!far_.empty()) {
      next = std::min(next, slot_of(far_.front()));
    }
    base_ = next;
    const std::uint64_t place = base_ % kBuckets;
    for (std::uint32_t node = bucket_[place]; node != kNone;) {
      sorted_.push_back(nodes_[node].event);
      const std::uint32_t following = nodes_[node].next;
      nodes_[node].next = free_;
      free_ = node;
      node = following;
      --in_buckets_;
    }
    bucket_[place] = kNone;
    used_[place / 64] &= ~(std::uint64_t{1} << (place % 64));
    while (!far_.empty() && slot_of(far_.front()) < base_ + kBuckets) {
      std::pop_heap(far_.begin(), far_.end(), After{});
      const std::uint64_t slot = slot_of(far_.back());
      if (slot == base_) {
        sorted_.push_back(far_.back());
      } else {
        put(far_.back(), slot);
      }
      far_.pop_back();
    }
    std::sort(sorted_.begin(), sorted_.end(), After{});
  }

  int shift_;
  std::uint64_t base_ = 0; // slot of the bucket being emptied
  std::size_t size_ = 0, in_buckets_ = 0;
  std::vector<PacketEvent> sorted_; // descending
  std::vector<PacketEvent> late_;   // heap: events pushed into the bucket being emptied
  std::vector<std::uint32_t> bucket_;
  std::vector<std::uint64_t> used_; // one bit per bucket
  std::vector<Node> nodes_;
  std::uint32_t free_ = kNone;
  std::vector<PacketEvent> far_; // heap
};

} // namespace stepsim::links
