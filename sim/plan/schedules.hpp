#pragma once
// The planners themselves, one .cpp each, and the two helpers they share. A planner sees only items
// with bytes (at least one) and decides the groups and, for each, the time before which it must not
// start (`ready`); all other times follow in `replay_groups`.
#include <cstddef>

#include "plan/planners.hpp"
#include "plan/sending.hpp"

namespace stepsim::plan {

// Appends the group of items first..last (from 0, both included), ready when its last item is.
void add_run(Plan& plan, const Problem& problem, std::size_t first, std::size_t last);

// Bytes of each group from its items; `priority` cuts items and gives them itself.
void count_bytes(const Problem& problem, Plan& plan);

// From bytes and `ready` of each group: start, end by the discipline of `planner`, and the finish.
void replay_groups(const Problem& problem, const Planner& planner, const ScheduleOptions& options,
                   Plan& plan);

// Parts of disciplines. Sizes everything, no way back yet.
void size_for(std::size_t transfers, SendTimes& times);
// All messages one after another; all ways back without a gap, in reverse order.
void send_forth(const Sending& sending, const SendInput& input, SendTimes& times);
void send_back(const Sending& sending, const SendInput& input, SendTimes& times);
// Union of [start, end] over messages in the order of their starts.
[[nodiscard]] double busy_seconds(const SendTimes& times);

} // namespace stepsim::plan
