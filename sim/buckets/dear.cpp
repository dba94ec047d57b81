// DeAR: a group's reduce-scatter runs during backward, its all-gather during the next forward, just
// in time for the first of its layers (MER 6.3).
//
//     backward        |--4--|--3--|--2--|--1--|           next forward  |--1--|--2--| ..
//     channel               |=rs 4=|=rs 3=|=rs 2=|=rs 1=|=ag 1=|=ag 2=|=ag 3=|=ag 4=|
//
// prefetch one: the all-gather of the next group starts when the forward reaches a group.
#include "buckets/schedules.hpp"

#include <algorithm>
#include <cassert>

#include "base/quantity.hpp"
#include "buckets/sending.hpp"

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

// The forward of the next iteration up to layer `end` on every worker, from layer `begin` where its
// weights arrive at `done`. Returns when the last worker reaches layer `end`.
double reach(const Sending& sending, const SendInput& input, std::span<double> clocks,
             std::size_t begin, std::size_t end, double done) {
  double last = 0;
  for (std::size_t worker = 0; worker < clocks.size(); ++worker) {
    double clock = std::max(clocks[worker], done);
    for (std::size_t l = begin; l < end; ++l) {
      clock += input.forward_factor[worker] * sending.forward_s[l];
    }
    clocks[worker] = clock;
    last = std::max(last, clock);
  }
  return last;
}

// All-gather after all-gather, each started when the forward has reached the group before.
void send_back_one_ahead(const Sending& sending, const SendInput& input, SendTimes& times) {
  double free = std::max(times.finish_s, input.backward_end_s);
  times.clocks_s.assign(input.forward_start_s.begin(), input.forward_start_s.end());
  double reached =
      reach(sending, input, times.clocks_s, 0, sending.transfers.back().first_layer, 0);
  for (std::size_t g = sending.transfers.size(); g-- > 0;) {
    const Transfer& transfer = sending.transfers[g];
    times.back_start_s[g] = free;
    times.back_end_s[g] = free + input.factor * transfer.back_s;
    if (g > 0) {
      free = std::max(reached, times.back_end_s[g]); // the forward is at the group: the next one
      reached = reach(sending, input, times.clocks_s, transfer.first_layer,
                      sending.transfers[g - 1].first_layer, times.back_end_s[g]);
    }
  }
  times.finish_s = times.back_end_s.front();
}

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

void send_dear(const Sending& sending, const SendInput& input, SendTimes& times) {
  send_forth(sending, input, times);
  if (sending.transfers.empty()) {
    return;
  }
  assert(sending.comes_back && "every reduce-scatter has its all-gather");
  if (sending.options.prefetch == Prefetch::all) {
    send_back(sending, input, times);
  } else {
    send_back_one_ahead(sending, input, times);
  }
}

std::string dear_settings(const ScheduleOptions& options) {
  const std::string group = options.dear_layers ? std::to_string(*options.dear_layers) + " layers"
                                                : base::readable_size(options.bucket_bytes.value);
  return "groups of " + group + "; all-gather overlaps the next forward";
}

} // namespace stepsim::buckets
