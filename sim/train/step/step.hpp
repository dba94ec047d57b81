#pragma once
// One iteration of synchronous SGD with one communication channel, repeated to steady state (MER 3
// and 7, COL 11). All times count from the start of backward; results and the terminal show times
// from the start of the iteration, which is one forward pass earlier.
//
//   messages   StepInput::send starts and ends them (plan/sending.hpp); the default is FIFO:
//              start(g) = max(end(g-1), ready(g)), end(g) = start(g) + T(g)
//   next step  t = t_b; for l = 1..L: t = max(t, done(l)) + u(l) + t_f(l);  period = t
//
// Here t_b is the time of backward, u(l) the update and t_f(l) the forward of layer l, done(l) the
// end of its last message, or of the broadcast or all-gather of that message where it has one.
// Every message of an iteration has ended before the next backward starts, so all periods are
// equal.
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"
#include "plan/planner_options.hpp"
#include "plan/send_in_order.hpp"
#include "plan/sending.hpp"

namespace stepsim::train {

enum class NextForward { per_layer, barrier };
inline constexpr auto kNextForwards = base::words<NextForward>(
    {{NextForward::per_layer, "per_layer"}, {NextForward::barrier, "barrier"}});

struct Message {
  std::vector<std::uint32_t> layers; // whose gradients it carries
  double bytes{};
  double ready_s{};     // the gradients are ready: the message starts no earlier
  double seconds{};     // T: all-reduce, the reduce of reduce_broadcast, or a reduce-scatter
  double broadcast_s{}; // reduce_broadcast; all-gather where `all_gathers`
  double startup_s{};   // part of `seconds` that other messages do not slow
};

struct StepInput {
  std::vector<double> forward_s;      // [layer], forward order
  std::vector<double> backward_s;     // [layer], forward order
  std::vector<double> gradient_bytes; // [layer]: share of the update
  std::vector<Message> messages;      // launch order; `priority`: the most urgent first
  double update_s{};
  // Reading a batch: added before the iteration, or, where pipelined, hidden behind forward,
  // backward and exposed communication, but not behind the update.
  double input_s{};
  bool input_pipelined = true;
  NextForward next_forward = NextForward::per_layer;
  bool reduce_broadcast = false; // reduces in backward order, update, broadcasts in forward order
  // DeAR: an all-gather per message, in forward order; a layer is updated when its own is done.
  bool all_gathers = false;
  void (*send)(const plan::Sending&, const plan::SendInput&,
               plan::SendTimes&) = plan::send_in_order;
  plan::ScheduleOptions schedule_options; // of `send`
};

struct MessageTimes {
  double start_s{};
  double end_s{};             // of the all-reduce or reduce
  double broadcast_start_s{}; // of reduce_broadcast and all-gathers, else 0
  double broadcast_end_s{};
  // FIFO: part of [start, end] after the end of backward, and all of a broadcast of
  // reduce_broadcast; other disciplines: part of the message and its all-gather during which the
  // next forward waits.
  double exposed_s{};
};

struct StepTimes {
  double forward_s{}, backward_s{}, update_s{};
  double finish_s{};        // end of all messages, at least the end of backward
  double period_s{};        // = forward + backward + update + exposed + input_wait
  double exposed_s{};       // communication not hidden behind computation
  double communication_s{}; // while at least one message is under way
  double drained_s{};       // end of messages and updates when no iteration follows
  double input_wait_s{};    // how long the next forward waits for its input
  std::vector<MessageTimes> messages;
  std::vector<std::uint32_t> launch_order; // messages by start; empty = in the order of the list
  std::vector<double> layer_done_s;        // [layer] done(l) above, 0 without a message
  std::vector<double> next_forward_s;      // [layer] start of its forward in the next iteration
};

[[nodiscard]] StepTimes run_step(const StepInput& input);

// The two halves of run_step: the messages as StepInput::send takes them, and the step whose
// messages were sent at the times `sent`.
[[nodiscard]] plan::Sending sending_of(const StepInput& input);
[[nodiscard]] StepTimes run_step(const StepInput& input, const plan::SendTimes& sent);

// u(l): each layer's share of the update by its gradient bytes. All 0 where no layer updates by
// itself: with reduce_broadcast, whose root makes the whole update, with a barrier, and without any
// bytes.
[[nodiscard]] std::vector<double> layer_updates(const StepInput& input);

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
