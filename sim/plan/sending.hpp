#pragma once
// How the messages of one iteration travel: a discipline is a pure function from the times at which
// messages are ready to the times at which they start and end. All times count from the start of
// backward; the channel is free at `channel_free_s`. Adding one = one function `send_NAME` and its
// place in the row of the schedule (planners.cpp).
//   a message    startup_s, which other messages do not slow, then data_s alone on the channel
//   its second half, `back`: an all-gather or a broadcast after all messages, in forward order
// What does not change between iterations is a `Sending`; sending again allocates nothing.
#include <cstdint>
#include <span>
#include <vector>

#include "plan/planner_options.hpp"

namespace stepsim::plan {

struct Transfer {
  double bytes{};              // what a credit counts
  double startup_s{};          // a
  double data_s{};             // T - a; where one message travels at a time only the sum matters
  double back_s{};             // duration of the second half
  std::uint32_t first_layer{}; // the lowest in forward order that it carries
};

struct Sending {
  // Launch order; for `priority` the most urgent first.
  std::vector<Transfer> transfers;
  bool comes_back = false;       // all-gathers or broadcasts follow
  std::vector<double> forward_s; // [layer] update and next forward; only DeAR reads it
  ScheduleOptions options;
};

// One iteration. `factor` multiplies every duration of a transfer.
struct SendInput {
  std::span<const double> ready_s; // [transfer]; `priority`: non-increasing
  double channel_free_s{};
  double backward_end_s{};
  double pause_s{}; // between the last message and the first second half: the update of the root
  double factor = 1;
  // [worker] The next forward: when it could start, and what multiplies its times.
  std::span<const double> forward_start_s{};
  std::span<const double> forward_factor{};
};

struct Underway { // of `send_at_once`
  std::uint32_t transfer{};
  bool moving{};  // data, after its start-up
  double until{}; // end of the start-up; when moving the mark on the clock of data
  double data_s{};
};

struct SendTimes {
  std::vector<double> start_s, end_s;           // [transfer]
  std::vector<double> back_start_s, back_end_s; // [transfer]; 0 without second halves
  std::vector<std::uint32_t> order;             // of the starts; empty = as listed
  double finish_s{};                            // end of everything sent, 0 without any
  double busy_s{}; // while at least one message, or a second half, is under way
  // Memory that disciplines keep between iterations; without meaning for callers.
  std::vector<Underway> underway;
  std::vector<std::uint32_t> waiting;
  std::vector<double> clocks_s;
};

// [transfer]: when the gradients of a message may be used.
[[nodiscard]] inline std::span<const double> done_s(const Sending& sending,
                                                    const SendTimes& times) {
  return sending.comes_back ? times.back_end_s : times.end_s;
}

} // namespace stepsim::plan
