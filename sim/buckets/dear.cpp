// DeAR: a group's reduce-scatter runs during backward, its all-gather during the next forward, just
// in time for the first of its layers (MER 6.3).
//
//     backward        |--4--|--3--|--2--|--1--|           next forward  |--1--|--2--| ..
//     channel               |=rs 4=|=rs 3=|=rs 2=|=rs 1=|=ag 1=|=ag 2=|=ag 3=|=ag 4=|
//
// prefetch one: the all-gather of the next group starts when the forward reaches a group.
#include "buckets/schedules.hpp"

#include "base/quantity.hpp"
#include "buckets/planner_options.hpp"

namespace stepsim::buckets {

namespace {

// Layers are walked in forward order: one joins the open group while that has room.
struct OpenGroup {
  Bytes bytes{};
  std::int64_t layers{};
  [[nodiscard]] bool takes(Bytes more, const ScheduleOptions& options) const {
    if (options.dear_layers) {
      return layers < *options.dear_layers;
    }
    return bytes.value == 0 || bytes + more < options.bucket_bytes;
  }
};

} // namespace

Plan plan_dear(const Problem& problem, const ScheduleOptions& options) {
  Plan plan;
  OpenGroup open;
  std::size_t end = problem.items.size(); // items end.. are in groups that are closed or open
  std::size_t group_end = end;
  while (end > 0) {
    std::size_t begin = end - 1; // the items of one layer
    Bytes bytes = problem.items[begin].bytes;
    while (begin > 0 && problem.items[begin - 1].layer == problem.items[end - 1].layer) {
      bytes += problem.items[--begin].bytes;
    }
    if (end < group_end && !open.takes(bytes, options)) {
      add_run(plan, problem, end, group_end - 1);
      group_end = end;
      open = {};
    }
    open.bytes += bytes;
    ++open.layers;
    end = begin;
  }
  add_run(plan, problem, 0, group_end - 1);
  std::reverse(plan.groups.begin(), plan.groups.end());
  return plan;
}

std::string dear_settings(const ScheduleOptions& options) {
  const std::string group = options.dear_layers ? std::to_string(*options.dear_layers) + " layers"
                                                : base::readable_size(options.bucket_bytes.value);
  return "groups of " + group + "; all-gather overlaps the next forward";
}

} // namespace stepsim::buckets
