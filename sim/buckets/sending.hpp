#pragma once
// Sends the messages of one iteration. A discipline is a pure function from the times at which
// messages are ready to the times at which they start and end. All times count from the start of
// backward; the channel is free at `channel_free_s`. A new discipline needs one function
// `send_NAME` and its entry in the row of the schedule (planners.cpp).
//   a message                takes startup_s, whatever else is sent, and then data_s if it is alone
//                            on the channel, else longer
//   its second half, `back`  an all-gather or a broadcast after all messages, in forward order
// `Sending` holds all that does not change between iterations; sending again allocates nothing.
#include <cstdint>
#include <span>
#include <vector>

#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

struct Transfer {
  double bytes{};              // bytes charged to the credit; read by `priority` only
  double startup_s{};          // start-up, a
  double data_s{};             // T - a; if one message is sent at a time, only the sum matters
  double back_s{};             // duration of the second half
  std::uint32_t first_layer{}; // the lowest in forward order among its gradients
};

struct Sending {
  // Launch order; for `priority` the most urgent message first.
  std::vector<Transfer> transfers;
  bool comes_back = false;       // there are second halves (all-gathers or broadcasts)
  std::vector<double> forward_s; // [layer] time of update and next forward; read by DeAR only
  ScheduleOptions options;
};

// Inputs of one iteration. `factor` multiplies the duration of every transfer, with its second
// half.
struct SendInput {
  std::span<const double> ready_s; // [transfer]; `priority`: non-increasing
  double channel_free_s{};
  double backward_end_s{};
  double pause_s{}; // from the last message to the first second half: the update at the root
  double factor = 1;
  // [worker] time at which the next forward could start, and the factor on `forward_s`.
  std::span<const double> forward_start_s{};
  std::span<const double> forward_factor{};
};

struct Underway { // state of a message in `send_at_once`
  std::uint32_t transfer{};
  bool moving{};  // in its data phase
  double until{}; // end of the start-up; if moving, value of AtOnce::clock at its end (at_once.hpp)
  double data_s{};
};

struct SendTimes {
  std::vector<double> start_s, end_s;           // [transfer]
  std::vector<double> back_start_s, back_end_s; // [transfer]; 0 if there are no second halves
  std::vector<std::uint32_t> order;             // order of starts; empty = as listed
  double finish_s{};                            // end of all messages and second halves; 0 if none
  double busy_s{}; // time with at least one message or second half in flight
  // Memory that disciplines keep between iterations; callers should ignore it.
  std::vector<Underway> underway;
  std::vector<std::uint32_t> waiting;
  std::vector<double> clocks_s;
};

// Returns [transfer] the time from which the gradients of a message may be used.
[[nodiscard]] inline std::span<const double> done_s(const Sending& sending,
                                                    const SendTimes& times) {
  return sending.comes_back ? times.back_end_s : times.end_s;
}

} // namespace stepsim::buckets
