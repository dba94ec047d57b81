#pragma once
// One iteration of synchronous SGD with one FIFO communication channel, repeated to steady state
// (MER 3 and 7, COL 11). All times count from the start of backward.
//
//   messages   start(g) = max(end(g-1), ready(g)), end(g) = start(g) + T(g)
//   next step  t = t_b; for l = 1..L: t = max(t, done(l)) + u(l) + t_f(l);  period = t
//
// Every message of an iteration has ended before the next backward starts, so every period is
// equal.
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace stepsim::train {

enum class NextForward { per_layer, barrier };

struct Message {
  std::vector<std::uint32_t> layers; // whose gradients it carries
  double bytes{};
  double ready_s{};     // launch is not before that
  double seconds{};     // T: all-reduce, or the reduce of reduce_broadcast
  double broadcast_s{}; // reduce_broadcast only
};

struct StepInput {
  std::vector<double> forward_s;      // [layer], forward order
  std::vector<double> backward_s;     // [layer], forward order
  std::vector<double> gradient_bytes; // [layer]: share of the update
  std::vector<Message> messages;      // launch order
  double update_s{};
  double input_s{};
  bool input_pipelined = true;
  NextForward next_forward = NextForward::per_layer;
  bool reduce_broadcast = false; // reduces in backward order, update, broadcasts in forward order
};

struct MessageTimes {
  double start_s{};
  double end_s{};             // of the all-reduce or reduce
  double broadcast_start_s{}; // reduce_broadcast only, else 0
  double broadcast_end_s{};
  double exposed_s{}; // part of [start, end] after the end of backward
};

struct StepTimes {
  double forward_s{}, backward_s{}, update_s{};
  double finish_s{};        // end of all messages, at least the end of backward
  double period_s{};        // = forward + backward + update + exposed (+ input)
  double exposed_s{};       // communication not hidden behind computation
  double communication_s{}; // all messages
  double drained_s{};       // end of messages and updates when no iteration follows
  double input_wait_s{};    // how long the next forward waits for its input
  std::vector<MessageTimes> messages;
  std::vector<double> layer_done_s;   // [layer] end of its last message, 0 without one
  std::vector<double> next_forward_s; // [layer] start of its forward in the next iteration
};

[[nodiscard]] StepTimes run_step(const StepInput& input);

// Communication that is not hidden when the next forward ends at `end_s` (from the start of
// backward): what is left after computing; a difference within rounding counts as none.
[[nodiscard]] double exposed_communication_s(double end_s, double forward_s, double backward_s,
                                             double update_s);

// Start of the first forward and of backward in iteration `index` (from 0), and the end of a run of
// `iterations`, all from the start of the run.
[[nodiscard]] double iteration_start_s(const StepTimes& step, std::int64_t index);
[[nodiscard]] double backward_start_s(const StepTimes& step, std::int64_t index);
[[nodiscard]] double makespan_s(const StepTimes& step, std::int64_t iterations);

} // namespace stepsim::train
