#pragma once
// P3, ByteScheduler and TicTac (MER 6.2): gradients are cut into chunks of partition_bytes. While
// fewer bytes than credit_bytes are in flight, the ready chunk of the first layer is sent next, and
// may then exceed credit_bytes.

#include "buckets/planner_options.hpp"
#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct Sending;
struct SendInput;
struct SendTimes;

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
