#pragma once
// DeAR (MER 6.3): the reduce-scatters of the buckets run behind backward, their all-gathers
// interleave with the next forward.
#include <string>

#include "plan/problem.hpp"

namespace stepsim::plan {

struct ScheduleOptions;
struct Sending;
struct SendInput;
struct SendTimes;

// Groups of whole layers: as many as stay below bucket_bytes, at least one, or dear_layers of them.
// O(items).
[[nodiscard]] Plan plan_dear(const Problem& problem, const ScheduleOptions& options);

// Reduce-scatters in launch order, all-gathers after the last of them, interleaved with the next
// forward (MER 6.3).
void send_dear(const Sending& sending, const SendInput& input, SendTimes& times);

// "groups of 25 MiB; all-gather overlaps the next forward".
[[nodiscard]] std::string dear_settings(const ScheduleOptions& options);

} // namespace stepsim::plan
