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
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stepsim::engine {

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

  [[nodiscard]] bool empty() const { return run_size_ == 0 && heap_.empty(); }
  [[nodiscard]] std::size_t size() const { return run_size_ + heap_.size(); }
  // Number of events for which memory is allocated.
  [[nodiscard]] std::size_t capacity() const { return run_.size() + heap_.capacity(); }
  [[nodiscard]] Time next_time() const { return next().time; }

  void push(Time time, std::uint32_t id) {
    assert(!(time < last_) && "an event must not lie in the past");
    assert(id < kMaxIds && "event ids are below 2^24");
    const Event<Time> event{time, sequence_++ << 24 | id};
    if (run_size_ == 0 || !(time < run_[(run_head_ + run_size_ - 1) & run_mask_].time)) {
      append(event);
    } else {
      sift_up(event);
    }
  }

  Event<Time> pop() {
    assert(!empty() && "pop from an empty queue");
    Event<Time> first;
    if (run_is_next()) {
      first = run_[run_head_];
      run_head_ = (run_head_ + 1) & run_mask_;
      --run_size_;
    } else {
      first = heap_.front();
      drop_top();
    }
    last_ = first.time;
    return first;
  }

private:
  [[nodiscard]] bool run_is_next() const {
    return heap_.empty() || (run_size_ != 0 && run_[run_head_].before(heap_.front()));
  }
  [[nodiscard]] const Event<Time>& next() const {
    assert(!empty() && "an empty queue has no next time");
    return run_is_next() ? run_[run_head_] : heap_.front();
  }

  // Appends to the run, a ring buffer whose size is a power of two.
  void append(const Event<Time>& event) {
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
  void sift_up(const Event<Time>& event) {
    std::size_t place = heap_.size();
    heap_.push_back(event);
    while (place > 0) {
      const std::size_t parent = (place - 1) / 4;
      if (!event.before(heap_[parent])) {
        break;
      }
      heap_[place] = heap_[parent];
      place = parent;
    }
    heap_[place] = event;
  }

  // Removes the top: the last entry moves down from the top to its position.
  void drop_top() {
    const Event<Time> moved = heap_.back();
    heap_.pop_back();
    const std::size_t count = heap_.size();
    if (count == 0) {
      return;
    }
    std::size_t place = 0;
    for (std::size_t child = 1; child < count; child = 4 * place + 1) {
      const std::size_t end = child + 4 < count ? child + 4 : count;
      std::size_t least = child;
      for (std::size_t k = child + 1; k < end; ++k) {
        least = heap_[k].before(heap_[least]) ? k : least;
      }
      if (!heap_[least].before(moved)) {
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
  std::vector<Event<Time>> heap_;
  std::uint64_t sequence_ = 0;
  Time last_{};
};

} // namespace stepsim::engine
