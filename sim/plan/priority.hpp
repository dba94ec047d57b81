#pragma once
// P3, ByteScheduler, TicTac (MER 6.2): gradients are cut into chunks of partition_bytes, and the
// chunk of the first layer that is ready goes first while credit_bytes allow.
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "plan/planner_options.hpp"
#include "plan/problem.hpp"

namespace stepsim::plan {

struct Sending;
struct SendInput;
struct SendTimes;

// Chunks that the gradients of one iteration may be cut into; each is a message of the result.
inline constexpr std::int64_t kMaxChunks = 1'000'000;

// Partition and credit of a preset, in bytes of parameters of `element_bytes` (MER 6.2).
[[nodiscard]] ScheduleOptions with_preset(ScheduleOptions options, PriorityPreset preset,
                                          std::int64_t element_bytes);

// What is wrong where gradients of these sizes make more chunks than kMaxChunks; empty otherwise.
[[nodiscard]] std::optional<std::string> too_many_chunks(std::span<const Bytes> bytes,
                                                         const ScheduleOptions& options);

// One group per chunk, the most urgent first: layers in forward order. Throws UsageError for too
// many chunks. O(items log items + chunks).
[[nodiscard]] Plan plan_priority(const Problem& problem, const ScheduleOptions& options);

// The most urgent ready one first, while there is credit; start-ups of chunks in flight overlap,
// their data do not (MER 6.2).
void send_by_priority(const Sending& sending, const SendInput& input, SendTimes& times);

// "chunks of 4 MB, first layers first, 16 MB under way".
[[nodiscard]] std::string priority_settings(const ScheduleOptions& options);

} // namespace stepsim::plan
