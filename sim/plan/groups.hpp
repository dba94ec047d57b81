#pragma once
// What planners share: building groups of a plan, and the times that follow from the groups.
#include <cstddef>

#include "plan/problem.hpp"

namespace stepsim::plan {

struct Planner;
struct ScheduleOptions;

// Appends the group of items first..last (from 0, both included), ready when its last item is.
void add_run(Plan& plan, const Problem& problem, std::size_t first, std::size_t last);

// Bytes of each group from its items; `priority` cuts items and gives them itself.
void count_bytes(const Problem& problem, Plan& plan);

// From bytes and `ready` of each group: start, end by the discipline of `planner`, and the finish.
void replay_groups(const Problem& problem, const Planner& planner, const ScheduleOptions& options,
                   Plan& plan);

} // namespace stepsim::plan
