#pragma once
// Part of the evaluator `events`: streams whose discipline is not fifo. Times are seconds since the
// start of the run and never decrease from call to call.
#include <algorithm>
#include <cassert>
#include <deque>
#include <queue>
#include <tuple>

#include "buckets/sending.hpp"
#include "programs/training_program.hpp"

namespace stepsim::programs {

struct Instance {
  std::uint32_t operation{};
  std::int64_t iteration{};
};

// Discipline `priority` (MER 6.2): the most urgent message is dispatched first, as long as credit
// is left. Start-ups overlap; the data of messages are sent one after the other.
class PriorityChannel {
public:
  explicit PriorityChannel(const Stream& stream)
      : credit_(stream.credit_bytes), most_credit_(stream.credit_bytes) {}

  // Adds a message that waits to be sent.
  void arrive(Instance instance, const Operation& operation) {
    waiting_.emplace(instance.iteration, operation.priority, instance.operation);
  }
  // Whether next() may be sent now; dispatch() sends it.
  [[nodiscard]] bool can_dispatch() const { return !waiting_.empty() && credit_ > 0; }
  Instance dispatch(double now, std::int64_t bytes, double startup_s, double data_s) {
    assert(can_dispatch());
    const Instance instance = take(bytes);
    data_end_ = std::max(now + startup_s, data_end_) + data_s;
    sent_.push_back({.instance = instance, .bytes = bytes, .end = data_end_});
    return instance;
  }
  // Removes and returns the next message, which takes `bytes` from the credit until the caller, who
  // carries it, gives them back. A message must be waiting, for next() too.
  Instance take(std::int64_t bytes) {
    const Instance instance = next();
    waiting_.pop();
    credit_ -= bytes;
    return instance;
  }
  void give_back(std::int64_t bytes) { credit_ = std::min(credit_ + bytes, most_credit_); }
  [[nodiscard]] Instance next() const {
    const auto& [iteration, priority, operation] = waiting_.top();
    return {.operation = operation, .iteration = iteration};
  }
  // The time at which the next message ends; infinity if none is in flight.
  [[nodiscard]] double next_time() const { return sent_.empty() ? kNever : sent_.front().end; }
  // Appends the messages that have ended by `now` to `ended`.
  void advance(double now, std::vector<Instance>& ended) {
    for (; !sent_.empty() && sent_.front().end <= now; sent_.pop_front()) {
      ended.push_back(sent_.front().instance);
      give_back(sent_.front().bytes);
    }
  }

private:
  struct Sent {
    Instance instance;
    std::int64_t bytes;
    double end;
  };
  // Iteration, priority and list position of a waiting message; the smallest key is sent first.
  using Key = std::tuple<std::int64_t, std::int64_t, std::uint32_t>;

  std::int64_t credit_;
  std::int64_t most_credit_;
  double data_end_ = 0; // time at which the message that was dispatched last ends
  std::priority_queue<Key, std::vector<Key>, std::greater<>> waiting_;
  std::deque<Sent> sent_;
};

// Discipline `at_once` (MER 6.1): messages start in issue order as long as a slot is free, and
// share the channel during their data phases (buckets/sending.hpp).
class AtOnceChannel {
public:
  explicit AtOnceChannel(const Stream& stream)
      : slots_(static_cast<std::size_t>(stream.concurrency)), channel_{.contention =
                                                                           stream.contention,
                                                                       .shares = stream.shares} {}

  [[nodiscard]] bool has_slot() const { return under_way_.size() < slots_; }
  void start(Instance instance, double now, double startup_s, double data_s) {
    assert(has_slot());
    buckets::move_to(channel_, now);
    buckets::start(channel_, under_way_, instance.iteration << 32 | instance.operation, startup_s,
                   data_s);
  }
  // The time at which the next message ends or enters its data phase; infinity if none is in
  // flight.
  [[nodiscard]] double next_time() const { return buckets::next_change(channel_, under_way_); }
  // Appends the messages that have ended by `now` to `ended`. `now` must not be later than
  // next_time().
  void advance(double now, std::vector<Instance>& ended) {
    for (std::int64_t message = 0; (message = buckets::next_end(channel_, under_way_, now)) >= 0;) {
      ended.push_back(
          {.operation = static_cast<std::uint32_t>(message), .iteration = message >> 32});
    }
  }

private:
  std::size_t slots_;
  buckets::AtOnce channel_;
  std::vector<buckets::Underway> under_way_; // iteration x 2^32 + operation
};

} // namespace stepsim::programs
