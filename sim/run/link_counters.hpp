#pragma once
// Counters of timelines: what goes through a link, over time. Used by run_timeline only.
#include <string>
#include <vector>

#include "engine/timeline.hpp"
#include "run/result.hpp"

namespace stepsim::study {

struct LinkChange {
  double time_s{};
  double by{}; // what the counter changes by
};

// One point per instant at which something changes; changes in any order.
void add_counter(std::uint32_t node, const std::string& name, std::vector<LinkChange> changes,
                 engine::Timeline& timeline);

// The busiest links of a run in the iterations first .. last, on a node of their own: messages
// under way where the run simulates each of them, else the part of the capacity that exchanges
// take, in percent. Adds nothing without a fabric, and where iterations are not copies of one step.
void add_link_counters(const Result& result, std::int64_t first, std::int64_t last,
                       engine::Timeline& timeline);

} // namespace stepsim::study
