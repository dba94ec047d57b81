#pragma once
// Adds counters to timelines that show the use of links over time. Used by run_timeline only.
#include <string>
#include <vector>

#include "engine/timeline.hpp"
#include "run/result.hpp"

namespace stepsim::study {

struct LinkChange {
  double time_s{};
  double by{}; // added to the counter at time_s
};

// Adds a counter with one point per instant at which it changes. `changes` may be in any order.
void add_counter(std::uint32_t node, const std::string& name, std::vector<LinkChange> changes,
                 engine::Timeline& timeline);

// Adds counters for the busiest links of a run in the iterations first .. last, under a separate
// node of the timeline. If the run simulates every message, they count messages in flight;
// otherwise they show the part of the capacity that exchanges take, in percent. Adds nothing
// without a fabric, or if the iterations are not copies of one step.
void add_link_counters(const Result& result, std::int64_t first, std::int64_t last,
                       engine::Timeline& timeline);

} // namespace stepsim::study
