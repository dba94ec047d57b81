#pragma once
// Part of the evaluator `events`: streams whose discipline is not fifo. Times are seconds since the
// start of the run and never decrease from call to call.
#include <algorithm>
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
  void arrive(Instance instance, const Operation& operation);
  // Whether next() may be sent now; dispatch() sends it.
  [[nodiscard]] bool can_dispatch() const { return !waiting_.empty() && credit_ > 0; }
  Instance dispatch(double now, std::int64_t bytes, double startup_s, double data_s);
  // Removes and returns the next message, which takes `bytes` from the credit until the caller, who
  // carries it, gives them back. A message must be waiting, for next() too.
  Instance take(std::int64_t bytes);
  void give_back(std::int64_t bytes) { credit_ = std::min(credit_ + bytes, most_credit_); }
  [[nodiscard]] Instance next() const;
  // The time at which the next message ends; infinity if none is in flight.
  [[nodiscard]] double next_time() const { return sent_.empty() ? kNever : sent_.front().end; }
  // Appends the messages that have ended by `now` to `ended`.
  void advance(double now, std::vector<Instance>& ended);

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
// share the channel during their data phases. A clock runs for all of them (buckets/sending.hpp),
// and a message ends when the clock has run for its clock_span().
class AtOnceChannel {
public:
  explicit AtOnceChannel(const Stream& stream)
      : slots_(static_cast<std::size_t>(stream.concurrency)), shares_(stream.shares),
        contention_(stream.contention) {}

  [[nodiscard]] bool has_slot() const { return under_way_.size() < slots_; }
  void start(Instance instance, double now, double startup_s, double data_s);
  // The time at which the next message ends or enters its data phase; infinity if none is in
  // flight.
  [[nodiscard]] double next_time() const;
  // Appends the messages that have ended by `now` to `ended`. `now` must not be later than
  // next_time().
  void advance(double now, std::vector<Instance>& ended);

private:
  struct UnderWay {
    Instance instance;
    bool moving;
    double until; // end of the phase: in seconds for the start-up, on the clock for the data
    double data_s;
  };

  [[nodiscard]] double unit_s() const {
    return buckets::clock_unit_s(shares_, contention_, moving_, moving_s_);
  }
  void move_to(double now);
  [[nodiscard]] double least_until() const; // least `until` in the data phase, on the clock

  std::size_t slots_;
  buckets::ChannelShares shares_;
  double contention_;
  double now_ = 0;
  double clock_ = 0;
  std::int64_t moving_ = 0;
  double moving_s_ = 0;             // data seconds of the messages in their data phase
  std::vector<UnderWay> under_way_; // in the order in which they started
};

} // namespace stepsim::programs
