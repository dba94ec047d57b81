#pragma once
// Sends the messages of one iteration. A discipline is a pure function from the times at which
// messages are ready to the times at which they start and end. All times count from the start of
// backward; the channel is free at `channel_free_s`. A new discipline needs one function
// `send_NAME` and its entry in the row of the schedule (planners.cpp).
// A message takes startup_s, whatever else is sent, and then data_s if it is alone on the channel,
// else longer.
// `Sending` holds all that does not change between iterations; sending again allocates nothing.

#include "buckets/planner_options.hpp"
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct Transfer {
  double bytes{};     // bytes charged to the credit; read by `priority` only
  double startup_s{}; // start-up, a
  double data_s{};    // T - a; if one message is sent at a time, only the sum matters
};

struct Sending {
  // Launch order; for `priority` the most urgent message first.
  std::vector<Transfer> transfers;
  ScheduleOptions options;
};

// Inputs of one iteration.
struct SendInput {
  std::span<const double> ready_s; // [transfer]; `priority`: non-increasing
  double channel_free_s{};
};

struct Underway {         // state of a message of AtOnce
  std::int64_t message{}; // any number >= 0
  bool moving{};          // in its data phase
  double until{}; // end of the start-up; if moving, value of AtOnce::clock at its end (sending.hpp)
  double data_s{};
};

struct SendTimes {
  std::vector<double> start_s, end_s; // [transfer]
  std::vector<std::uint32_t> order;   // order of starts; empty = as listed
  double finish_s{};                  // end of all messages; 0 if none
  double busy_s{};                    // time with at least one message in flight
  // Memory that disciplines keep between iterations; callers should ignore it.
  std::vector<Underway> underway;
  std::vector<std::uint32_t> waiting;
};

// One channel that sends one message at a time, first in first out (MER 3):
//     start(g) = max(end(g-1), ready(g)), end(g) = start(g) + startup + data
void send_in_order(const Sending& sending, const SendInput& input, SendTimes& times);

// Resizes `times` to the number of messages, reusing the memory of the last iteration.
void size_for(std::size_t transfers, SendTimes& times);
// Returns the seconds in the union of [start, end] over messages. times.order must be the order of
// starts; empty: messages start as listed.
[[nodiscard]] double busy_seconds(const SendTimes& times);

// A channel for several messages at once (MER 6.1). A message has a start-up phase, which other
// messages do not slow, and a data phase; k messages in their data phase share the channel. With
// equal shares each takes 1 + contention (k - 1) times as long as alone: at a contention of 1 each
// has 1 / k of the rate (processor sharing). By size, a message that takes d seconds alone has d /
// D of the rate, where D is the sum of all k: their parts take turns, and each message moves 1 / D
// of its data per second (discriminatory processor sharing). Both ways the channel moves as much as
// with one message at a time, except for a contention other than 1.
//
//     contention 0.5, messages of 1 + 1 s and 1 + 2 s started together
//     start-up  |--1--|                   both move data at 1 / 1.5 of the rate until 2.5, then the
//     data            |--1.5--|--1--|     second moves its last second alone: ends 2.5, 3.5
//     by size         |-----3-----|       1 / 3 and 2 / 3 of the rate: both end at 4
//
// One clock runs for all messages in their data phase, and stands still if there is none. With
// equal shares it counts seconds of data, and a message ends data_s on the clock after its
// start-up; by size it counts parts of a message, and each ends 1 on the clock after its start-up.
// The time of a cost that is no line has no start-up that is known: all of it is data.

struct AtOnce {        // times in s, from any origin
  double contention{}; // >= 0
  ChannelShares shares{};
  double now{};
  double clock{};        // seconds of data, or parts, that one message could have moved so far
  std::int64_t moving{}; // number of messages in their data phase
  double moving_s{};     // their data seconds alone
};

// Advances to a time before which no message ends or enters its data phase.
void move_to(AtOnce& channel, double time);

// Starts a message now.
void start(const AtOnce& channel, std::vector<Underway>& underway, std::int64_t message,
           double startup_s, double data_s);

// When the next message ends or enters its data phase; infinity if none is under way.
[[nodiscard]] double next_change(const AtOnce& channel, std::span<const Underway> underway);

// Advances to the next end of a message, removes it from `underway` and returns its number. If no
// message ends by `limit`, advances to `limit` (if that is finite) and returns -1.
[[nodiscard]] std::int64_t next_end(AtOnce& channel, std::vector<Underway>& underway, double limit);

// P3, ByteScheduler and TicTac (MER 6.2): gradients are cut into chunks of partition_bytes. While
// fewer bytes than credit_bytes are in flight, the ready chunk of the first layer is sent next, and
// may then exceed credit_bytes.

// Maximum number of chunks in one iteration; each chunk is a message of the result.
inline constexpr std::int64_t kMaxChunks = 1'000'000;

// Returns the options with partition and credit of a preset, for parameters of `element_bytes`
// bytes (MER 6.2).
[[nodiscard]] ScheduleOptions with_preset(ScheduleOptions options, PriorityPreset preset,
                                          std::int64_t element_bytes);

// Returns the error text if gradients of these sizes make more chunks than kMaxChunks; empty
// otherwise.
[[nodiscard]] std::optional<std::string> too_many_chunks(std::span<const Bytes> bytes,
                                                         const ScheduleOptions& options);

// Returns one group per chunk, the most urgent first: layers in forward order. Throws UsageError
// for too many chunks. O(items log items + chunks).
[[nodiscard]] Plan plan_priority(const Problem& problem, const ScheduleOptions& options);

// Sends the most urgent ready chunk first, while credit is above 0. Start-ups of chunks in flight
// overlap, their data phases do not (MER 6.2). Transfers are in the order of plan_priority(); less
// urgent ones must be ready first (asserted).
void send_by_priority(const Sending& sending, const SendInput& input, SendTimes& times);

// Returns "chunks of 4 MB, first layers first, 16 MB under way".
[[nodiscard]] std::string priority_settings(const ScheduleOptions& options);

} // namespace stepsim::buckets
