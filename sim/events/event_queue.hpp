#pragma once
// Queue of pending events in the order (time, sequence): events of equal time leave in the order in
// which they were pushed. No event may be earlier than the last event that left.
//
// There are two stores. The run is a ring buffer in time order, which takes every event that is not
// earlier than its last event; a 4-ary heap takes all others. Equal ranks push in time order, so
// their events cost O(1) each; other events cost O(log pending):
//     push 5, 7, 6, 8     run 5 7 8     heap 6     leaves 5 6 7 8
// `Time` is double (seconds) or an integer (picoseconds). An event has 16 bytes; ids are below
// 2^24.
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace stepsim::events {

template <class Time> struct Event {
  Time time{};
  std::uint64_t key{}; // sequence << 24 | id

  [[nodiscard]] std::uint32_t id() const { return static_cast<std::uint32_t>(key & 0xffffff); }
  [[nodiscard]] bool before(const Event& other) const {
    return time < other.time || (time == other.time && key < other.key);
  }
};

template <class Time> class EventQueue {
public:
  static constexpr std::uint32_t kMaxIds = 1U << 24;
  // Later than every event.
  static constexpr Time kNever = std::numeric_limits<Time>::has_infinity
                                     ? std::numeric_limits<Time>::infinity()
                                     : std::numeric_limits<Time>::max();

  [[nodiscard]] bool empty() const { return run_size_ == 0 && heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return run_size_ + heap_.size(); }
  // Number of events for which memory is allocated.
  [[nodiscard]] std::size_t capacity() const { return run_.size() + heap_.capacity(); }
  [[nodiscard]] Time next_time() const {
    assert(!empty() && "an empty queue has no next time");
    return run_is_next() ? run_[run_head_].time : event_of(heap_.front()).time;
  }
  // The time of the next event, kNever without one.
  [[nodiscard]] Time next_or_never() const { return empty() ? kNever : next_time(); }

  [[gnu::always_inline]] void push(Time time, std::uint32_t id) {
    assert(!(time < last_) && "an event must not lie in the past");
    assert(id < kMaxIds && "event ids are below 2^24");
    const Event<Time> event{time, sequence_++ << 24 | id};
    if (run_size_ == 0 || !(time < run_[(run_head_ + run_size_ - 1) & run_mask_].time)) {
      append(event);
    } else {
      sift_up(entry_of(event));
    }
  }

  [[gnu::always_inline]] Event<Time> pop() {
    assert(!empty() && "pop from an empty queue");
    Event<Time> first;
    if (run_is_next()) {
      first = run_[run_head_];
      run_head_ = (run_head_ + 1) & run_mask_;
      --run_size_;
    } else {
      first = event_of(heap_.front());
      drop_top();
    }
    last_ = first.time;
    return first;
  }

  // Takes out every event up to and including `now`, those that `handle(event)` pushes meanwhile
  // too.
  template <class Handle> [[gnu::always_inline]] void drain(Time now, const Handle& handle) {
    while (!empty() && next_time() <= now) {
      handle(pop());
    }
  }

private:
  // An event in the heap: a number that rises with the time, and the key. Whole numbers are
  // compared without a branch, which nobody could predict for times in random order.
  struct Entry {
    std::uint64_t order{};
    std::uint64_t key{};

    [[nodiscard]] std::size_t before(const Entry& other) const { // 0 or 1
      const auto is = [](bool condition) { return static_cast<std::size_t>(condition); };
      return is(order < other.order) | (is(order == other.order) & is(key < other.key));
    }
  };
  static constexpr std::uint64_t kSign = std::uint64_t{1} << 63;

  // The bits of a double rise with it, but for the sign: those of negative numbers are turned
  // round.
  [[nodiscard]] static Entry entry_of(const Event<Time>& event) {
    if constexpr (std::floating_point<Time>) {
      const auto bits = std::bit_cast<std::uint64_t>(event.time + 0.0); // no negative zero
      return {bits < kSign ? bits + kSign : ~bits, event.key};
    } else {
      return {static_cast<std::uint64_t>(event.time) ^ kSign, event.key};
    }
  }
  [[nodiscard]] static Event<Time> event_of(const Entry& entry) {
    if constexpr (std::floating_point<Time>) {
      const std::uint64_t bits = entry.order >= kSign ? entry.order - kSign : ~entry.order;
      return {std::bit_cast<double>(bits), entry.key};
    } else {
      return {static_cast<Time>(entry.order ^ kSign), entry.key};
    }
  }

  [[nodiscard]] [[gnu::always_inline]] bool run_is_next() const {
    return heap_.empty() || (run_size_ != 0 && run_[run_head_].before(event_of(heap_.front())));
  }
  // Appends to the run, a ring buffer whose size is a power of two.
  [[gnu::always_inline]] void append(const Event<Time>& event) {
    if (run_size_ == run_.size()) {
      grow();
    }
    run_[(run_head_ + run_size_++) & run_mask_] = event;
  }

  void grow() {
    std::vector<Event<Time>> larger(run_.empty() ? 16 : 2 * run_.size());
    for (std::size_t i = 0; i < run_size_; ++i) {
      larger[i] = run_[(run_head_ + i) & run_mask_];
    }
    run_.swap(larger);
    run_head_ = 0;
    run_mask_ = run_.size() - 1;
  }

  // The heap has four children per node: half the levels of a binary heap, and the children of a
  // node lie in one or two cache lines.
  void sift_up(const Entry& added) {
    std::size_t place = heap_.size();
    heap_.push_back(added);
    while (place > 0) {
      const std::size_t parent = (place - 1) / 4;
      if (added.before(heap_[parent]) == 0) {
        break;
      }
      heap_[place] = heap_[parent];
      place = parent;
    }
    heap_[place] = added;
  }

  // Returns the first of four entries: the winner of both pairs, by index.
  [[nodiscard]] std::size_t first_of_four(std::size_t child) const {
    const Entry* all = heap_.data() + child;
    const std::size_t low = all[1].before(all[0]);
    const std::size_t high = 2 + all[3].before(all[2]);
    return child + low + (high - low) * all[high].before(all[low]);
  }

  // Removes the top: the last entry moves down from the top to its position.
  void drop_top() {
    const Entry moved = heap_.back();
    heap_.pop_back();
    const std::size_t count = heap_.size();
    if (count == 0) {
      return;
    }
    std::size_t place = 0;
    for (std::size_t child = 1; child < count; child = 4 * place + 1) {
      std::size_t least = child;
      if (child + 4 <= count) {
        least = first_of_four(child);
      } else {
        for (std::size_t k = child + 1; k < count; ++k) {
          least = heap_[k].before(heap_[least]) != 0 ? k : least;
        }
      }
      if (heap_[least].before(moved) == 0) {
        break;
      }
      heap_[place] = heap_[least];
      place = least;
    }
    heap_[place] = moved;
  }

  std::vector<Event<Time>> run_; // capacity a power of two
  std::size_t run_head_ = 0;
  std::size_t run_size_ = 0;
  std::size_t run_mask_ = 0;
  std::vector<Entry> heap_;
  std::uint64_t sequence_ = 0;
  Time last_ = std::numeric_limits<Time>::lowest(); // of the event that left last
};

} // namespace stepsim::events
