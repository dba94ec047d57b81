#pragma once
// One iteration of synchronous SGD with one communication channel, in steady state (MER 3 and 7,
// COL 11). All times are seconds from the start of backward. Results and the terminal show times
// from the start of the iteration, which is one forward pass earlier.
//
//   messages   scheduled by StepInput::send (buckets/sending.hpp); the default is FIFO:
//              start(g) = max(end(g-1), ready(g)), end(g) = start(g) + T(g)
//   next step  t = t_b; for l = 1..L: t = max(t, done(l)) + u(l) + t_f(l);  period = t
//
// Here t_b is the time of backward, u(l) the update and t_f(l) the forward of layer l, and done(l)
// the end of the layer's last message, including its broadcast or all-gather. Every message of an
// iteration ends before the next backward starts, so that all periods are equal.

#include "buckets/sending.hpp"
#include "programs/builders/step_parts.hpp"

namespace stepsim::programs {

inline constexpr auto kNextForwards = base::words<NextForward>(
    {{NextForward::per_layer, "per_layer"}, {NextForward::barrier, "barrier"}});

struct Message {
  std::vector<std::uint32_t> layers; // layers of the gradients in the message
  double bytes{};
  double ready_s{};     // when the gradients are ready; the message starts no earlier
  double seconds{};     // T: the all-reduce, the reduce of reduce_broadcast, or the reduce-scatter
  double broadcast_s{}; // the broadcast of reduce_broadcast, or the all-gather with `all_gathers`
  double startup_s{};   // part of `seconds` that other messages do not slow
};

struct StepInput {
  std::vector<double> forward_s;      // [layer], forward order
  std::vector<double> backward_s;     // [layer], forward order
  std::vector<double> gradient_bytes; // [layer]: bytes that give its share of the update
  std::vector<Message> messages;      // launch order; `priority`: the most urgent first
  double update_s{};
  // Time to read a batch: added before the iteration or, if reading is pipelined, overlapped with
  // forward, backward and exposed communication, but not with the update.
  double input_s{};
  bool input_pipelined = true;
  NextForward next_forward = NextForward::per_layer;
  bool reduce_broadcast = false; // reduces in backward order, update, broadcasts in forward order
  // DeAR: one all-gather per message, in forward order. A layer is updated after its all-gather.
  bool all_gathers = false;
  // The discipline of the channel: computes when the messages are sent (buckets/sending.hpp).
  void (*send)(const buckets::Sending&, const buckets::SendInput&,
               buckets::SendTimes&) = buckets::send_in_order;
  buckets::ScheduleOptions schedule_options; // options for `send`
};

struct MessageTimes {
  double start_s{};
  double end_s{};             // end of the all-reduce, reduce or reduce-scatter
  double broadcast_start_s{}; // start of the broadcast or all-gather; 0 if there is none
  double broadcast_end_s{};
  // FIFO: the part of the message after the end of backward, plus the whole broadcast of
  // reduce_broadcast. Other disciplines: the part of the message and its all-gather during which
  // the next forward waits.
  double exposed_s{};
};

struct StepTimes {
  double forward_s{}, backward_s{}, update_s{};
  double finish_s{};        // end of all messages, but at least the end of backward
  double period_s{};        // = forward + backward + update + exposed + input_wait
  double exposed_s{};       // communication that is not hidden by compute
  double communication_s{}; // time during which at least one message is in flight
  double chained_s{};       // messages on the binding path, see chained_s() below
  double drained_s{};       // end of all messages and updates if no iteration follows
  double input_wait_s{};    // wait of the next forward for its input
  std::vector<MessageTimes> messages;
  // Indices of the messages in order of start; empty if that is the order of the list.
  std::vector<std::uint32_t> launch_order;
  std::vector<double> layer_done_s;   // [layer] done(l) above, 0 without a message
  std::vector<double> next_forward_s; // [layer] start of its forward in the next iteration
};

[[nodiscard]] StepTimes run_step(const StepInput& input);

// The two halves of run_step(): the input of StepInput::send, and the step whose messages were sent
// at the times `sent`.
[[nodiscard]] buckets::Sending sending_of(const StepInput& input);
[[nodiscard]] StepTimes run_step(const StepInput& input, const buckets::SendTimes& sent);

// A message, a broadcast or an all-gather under way.
struct Sent {
  double start_s{}, end_s{};
};
// Seconds of the messages that follow each other without a gap and end at `until_s`: the last one
// that the next forward waits for, the one that kept the channel busy before it, and so on. 0 if
// none ends then. A message that starts `pause_s` after another has ended follows it, too.
[[nodiscard]] double chained_s(std::vector<Sent> messages, double until_s, double pause_s = 0);

// [layer]: its update u(l), a share of the update in proportion to its gradient bytes. All are 0 if
// layers are not updated one by one: with reduce_broadcast, whose root does the whole update, with
// a barrier, and if no layer has bytes.
[[nodiscard]] std::vector<double> layer_updates(const StepInput& input);

// The communication that is not hidden if the next forward ends at `end_s` after the start of
// backward: `end_s` minus the compute times; 0 if the difference is only rounding.
[[nodiscard]] double exposed_communication_s(double end_s, double forward_s, double backward_s,
                                             double update_s);

} // namespace stepsim::programs
