#pragma once
// DeAR (MER 6.3): the reduce-scatters of the buckets overlap backward, and their all-gathers
// overlap the next forward.
#include <string>

#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct ScheduleOptions;
struct Sending;
struct SendInput;
struct SendTimes;

// Groups whole layers: a group has dear_layers layers or, if that is empty, as many as together
// have less than bucket_bytes, at least one. O(items).
[[nodiscard]] Plan plan_dear(const Problem& problem, const ScheduleOptions& options);

// Sends the reduce-scatters in launch order, and after the last of them the all-gathers,
// interleaved with the next forward (MER 6.3).
void send_dear(const Sending& sending, const SendInput& input, SendTimes& times);

// Returns "groups of 25 MiB; all-gather overlaps the next forward".
[[nodiscard]] std::string dear_settings(const ScheduleOptions& options);

} // namespace stepsim::buckets
