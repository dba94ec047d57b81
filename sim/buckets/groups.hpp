#pragma once
// Functions that planners share: they build the groups of a plan, and compute times from the
// groups.

#include "buckets/problem.hpp"

namespace stepsim::buckets {

struct Planner;
struct ScheduleOptions;

// Appends the group of items first..last (from 0, both included), which is ready when its last item
// is.
void add_run(Plan& plan, const Problem& problem, std::size_t first, std::size_t last);

// Sets the bytes of each group from its items. Groups that have bytes keep them: groups of
// `priority` are chunks of an item.
void count_bytes(const Problem& problem, Plan& plan);

// Sets start and end of each group from its bytes and `ready`, as `planner` sends messages, and the
// finish of the plan.
void replay_groups(const Problem& problem, const Planner& planner, const ScheduleOptions& options,
                   Plan& plan);

} // namespace stepsim::buckets
