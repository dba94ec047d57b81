#pragma once
// The evaluator `events`, in which every start and end of an operation is an event, processed in
// the order of time (TRN 2.2, 3.1). It supports all stream disciplines, interference, and ranks
// that differ. Exchange times must be given by formula, with entry `together`.

#include "programs/operation_layout.hpp"

namespace stepsim::programs {

// The number of iterations after the last one of a mean that must run, too, because they slow its
// operations: with interference or a shared channel, as many as the longest wait spans; else 0.
//
//     compute  C8 C9 |         X9 with C10 beside it would take longer: a mean over the iterations
//     reduce      X8 X9        up to 9 needs C10
[[nodiscard]] std::int64_t iterations_after(const Program& program);

// Runs a valid program which enters exchanges together. At one instant, exchanges end first, then
// compute operations; then waiting operations start; then messages of priority and at_once streams
// are dispatched. There are O((operations + waits) x ranks) events per iteration, each O(log ranks)
// or, with interference, O(streams). Throws SimulationError if (fifo streams + exchanges on other
// streams) x ranks is 2^24 or more.
[[nodiscard]] OperationTimes event_pass(const Program& program, std::int64_t iterations,
                                        const Factors& factors = {},
                                        Record record = Record::marker);

// The evaluator `events` for one of equal ranks whose streams are all fifo and whose exchanges are
// not slowed by computing. Every stream has at most one operation in progress, so that the next
// event is the soonest end of a few streams and no queue is needed. Times have the bits of
// ProgramEvents, because rates change at the same instants by the same equation (TRN 3.1):
//
//     left -= (now - since) / slowdown before,   end = now + left x slowdown from now on

// Whether fifo_pass() can run the program: fifo streams, exchanges that start together and take
// their own time beside computing.
[[nodiscard]] bool fifo_pass_applies(const Program& program);

// Runs a valid program for which fifo_pass_applies(). The result has one rank, whatever
// program.ranks is. The pass may stop as soon as all operations of the iterations before `needed`
// have ended; later ones and the makespan are then incomplete. O(operations + waits) x O(streams)
// per iteration.
[[nodiscard]] OperationTimes
fifo_pass(const Program& program, std::int64_t iterations, Record record = Record::marker,
          std::int64_t needed = std::numeric_limits<std::int64_t>::max());

// An iteration that begins on idle streams: computing and exchanges, each of both in its order, and
// every exchange told behind the computing that it waits for. Times have the bits of fifo_pass().
//
//     compute  |--3--|-----2 slowed-----|--1--|        compute(3, s), exchange(3 + delay, 4),
//     reduce         ..delay..|====4====|              compute(2, s), compute(1, s)
class IdlePass {
public:
  // Computes for `seconds`, `slowdown` times as long while an exchange is under way.
  void compute(double seconds, double slowdown) {
    if (slowdown == 1 || last_.until <= now_) {
      now_ += seconds;
    } else if (earlier_.empty() && last_.from <= now_) {
      const double end = now_ + seconds * slowdown;
      now_ = end <= last_.until
                 ? end
                 : last_.until + std::max(0.0, seconds - (last_.until - now_) / slowdown);
    } else {
      compute_in_gaps(seconds, slowdown);
    }
  }
  // An exchange that is ready at `ready_s`, no earlier than now; returns when it starts.
  double exchange(double ready_s, double seconds) {
    const double start = std::max(channel_, ready_s);
    channel_ = start + seconds;
    if (start == last_.until) {
      last_.until = channel_;
    } else if (channel_ > start) {
      begin_busy(start);
    }
    return start;
  }
  [[nodiscard]] double now_s() const { return now_; }         // computing has ended
  [[nodiscard]] double channel_s() const { return channel_; } // the last exchange has
  [[nodiscard]] double end_s() const { return std::max(now_, channel_); }

private:
  struct Busy {
    double from{}, until{}; // with exchanges under way, without a gap
  };
  void compute_in_gaps(double seconds, double slowdown);
  void begin_busy(double start);

  std::vector<Busy> earlier_; // than the last: those that may slow what computes next
  Busy last_;
  double now_ = 0, channel_ = 0;
};

// The period, or the times, of a valid program whose iterations all begin on idle streams, because
// its first operation waits for all of the iteration before: every iteration then repeats the
// first. Empty for other programs, and where fifo_pass_applies() is false. O(operations) where the
// layout has a single pass; results have the bits of fifo_pass(). The period may be asked for other
// slowdowns of computing than the program has.
[[nodiscard]] std::optional<double> period_from_idle(const Program& program,
                                                     const OperationLayout& layout,
                                                     const Interference& interference);
[[nodiscard]] std::optional<OperationTimes>
times_from_idle(const Program& program, const OperationLayout& layout, std::int64_t iterations);

// The steady-state period of a program with constant durations by the evaluator `events`. It is for
// programs with interference or with disciplines other than fifo: the period of such a program is
// not a cycle ratio (TRN 2.4). From some iteration on, the end times E repeat, all shifted by the
// same time:
//
//     E(o, t + c) = E(o, t) + shift for every operation o,  period = shift / c
//
// An iteration depends on the w iterations before it, where w is the largest distance of a wait. So
// once w iterations in a row repeat, all later iterations repeat, too. c is 1 for most programs; a
// pipelined program may alternate between c different periods.

struct EventPeriod {
  Seconds period;
  // The number c of iterations after which all times repeat. 0 if they did not repeat within the
  // simulated iterations; `period` is then the mean over the second half of them.
  std::int64_t cyclicity{};
  std::int64_t steady_from{}; // the iteration t from which on the equation above holds
};

// The period of times that were recorded with Record::all, by event_pass() without variability and
// from the iteration on in which all waits that end have ended. Empty if they do not repeat.
[[nodiscard]] std::optional<EventPeriod> repetition(const Program& program,
                                                    const OperationTimes& times);

// The period of a valid program for which enters_together(), with equal ranks. Simulates 4, 8,
// 16, .. iterations (more if waits look back farther) until the times repeat to 1e-12 of the time
// of the run, and gives up after 1024 iterations or 2^22 operations.
[[nodiscard]] EventPeriod event_period(const Program& program);
// The same with the layout of the program, for callers that know it.
[[nodiscard]] EventPeriod event_period(const Program& program, const OperationLayout& layout);

} // namespace stepsim::programs
