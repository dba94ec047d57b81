#pragma once
// Streams that do not take their exchanges strictly one after another. Evaluator `events`. Times
// are seconds since the start of the run and never fall from call to call.
#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <tuple>
#include <vector>

#include "program/training_program.hpp"

namespace stepsim::program {

struct Instance {
  std::uint32_t operation{};
  std::int64_t iteration{};
};

inline constexpr double kNoEvent = std::numeric_limits<double>::infinity();

// Discipline `priority` (MER 6.2): the most urgent message first, dispatched while credit is left;
// start-ups overlap, data do not.
class PriorityChannel {
public:
  explicit PriorityChannel(const Stream& stream)
      : credit_(stream.credit_bytes), most_credit_(stream.credit_bytes) {}

  void arrive(Instance instance, const Operation& operation);
  // The next message that may go now, false if none may. dispatch() sends it.
  [[nodiscard]] bool can_dispatch() const { return !waiting_.empty() && credit_ > 0; }
  Instance dispatch(double now, std::int64_t bytes, double startup_s, double data_s);
  // The next message goes without credit: somebody else carries it.
  Instance take();
  [[nodiscard]] Instance next() const;
  // When the next message ends.
  [[nodiscard]] double next_time() const { return sent_.empty() ? kNoEvent : sent_.front().end; }
  // Appends the messages that have ended by `now`.
  void advance(double now, std::vector<Instance>& ended);

private:
  struct Sent {
    Instance instance;
    std::int64_t bytes;
    double end;
  };
  using Key =
      std::tuple<std::int64_t, std::int64_t, std::uint32_t>; // iteration, priority, position

  std::int64_t credit_;
  std::int64_t most_credit_;
  double data_end_ = 0; // of the message dispatched last
  std::priority_queue<Key, std::vector<Key>, std::greater<>> waiting_;
  std::deque<Sent> sent_;
};

// Discipline `at_once` (MER 6.1): messages start in issue order while a slot is free; k of them in
// their data phase slow each other to 1 / (1 + contention (k - 1)). A clock runs at that rate, and
// a message ends when the clock has run for its data seconds.
class AtOnceChannel {
public:
  explicit AtOnceChannel(const Stream& stream)
      : slots_(static_cast<std::size_t>(stream.concurrency)), contention_(stream.contention) {}

  [[nodiscard]] bool has_slot() const { return under_way_.size() < slots_; }
  void start(Instance instance, double now, double startup_s, double data_s);
  // When the next message ends or begins to move data.
  [[nodiscard]] double next_time() const;
  // Appends the messages that have ended by `now`, which must not be later than next_time().
  void advance(double now, std::vector<Instance>& ended);

private:
  struct UnderWay {
    Instance instance;
    bool moving;
    double until; // time if it starts up, clock if it moves data
    double data_s;
  };

  [[nodiscard]] double slowdown() const {
    return 1 + contention_ * static_cast<double>(moving_ - 1);
  }
  void move_to(double now);
  [[nodiscard]] double least_until() const; // of the messages that move data, on the clock

  std::size_t slots_;
  double contention_;
  double now_ = 0;
  double clock_ = 0;
  std::int64_t moving_ = 0;
  std::vector<UnderWay> under_way_; // in order of starting
};

} // namespace stepsim::program
