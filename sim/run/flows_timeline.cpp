// Spans of one lane must not overlap in the trace format, so that flows which a host sends at the
// same time are spread over lanes.
#include "run/flows_run.hpp"

#include <fmt/core.h>

#include "run/run_timeline.hpp"

namespace stepsim::study {

namespace {

constexpr std::size_t kCountedLinks = 8; // with a counter of flows
constexpr std::uint32_t kFirstLane = 1;  // 0 is for computing

// A flow while it is under way.
struct Life {
  std::size_t id{};
  double start_s{}, end_s{};
};

// The flows that took time, by their start.
// Sorted by start, since lanes are given out in that order.
std::vector<Life> lives(const FlowsFile& file, const FlowsResult& result) {
  std::vector<Life> all;
  for (std::size_t id = 0; id < result.flows.size(); ++id) {
    if (const auto fct = result.flows[id].fct_s; fct && *fct > 0) {
      all.push_back({id, file.flows[id].start_s, file.flows[id].start_s + *fct});
    }
  }
  std::ranges::stable_sort(all, {}, &Life::start_s);
  return all;
}

// Every host has as many lanes as it has flows at once: a flow takes the first free one.
void add_spans(const FlowsFile& file, const FlowsResult& result, const std::vector<Life>& all,
               events::Timeline& timeline) {
  std::vector<std::vector<double>> free_at(file.fabric.hosts); // [host][lane]
  for (const auto& [id, start_s, end_s] : all) {
    const links::FlowSpec& flow = file.flows[id];
    std::vector<double>& lanes = free_at[flow.src];
    const auto lane = std::ranges::find_if(lanes, [at = start_s](double end) { return end <= at; });
    const auto number = static_cast<std::uint32_t>(lane - lanes.begin());
    if (lane == lanes.end()) {
      lanes.push_back(end_s);
    } else {
      *lane = end_s;
    }
    timeline.spans.push_back(
        {.track = {flow.src, kFirstLane + number},
         .start = {start_s},
         .end = {end_s},
         .name = fmt::format("flow {} to {}", id, file.fabric.node_names[flow.dst]),
         .category = "communication",
         .texts = {},
         .numbers = {{"bytes", flow.bytes}, {"lost_bytes", result.flows[id].lost_bytes}}});
  }
  for (links::NodeId host = 0; host < file.fabric.hosts; ++host) {
    for (std::uint32_t lane = 0; lane < free_at[host].size(); ++lane) {
      timeline.lane_names.push_back({{host, kFirstLane + lane}, "flows " + std::to_string(lane)});
    }
  }
}

// How many flows are under way over a link, where it ends.
// A sprayed flow counts on every link that its packets may take.
void add_counters(const FlowsFile& file, const FlowsResult& result, const std::vector<Life>& all,
                  events::Timeline& timeline) {
  const std::vector<links::LinkId> busiest = busiest_links(result.links, kCountedLinks);
  const std::vector<links::FlowPath> paths = flow_list_paths(file);
  for (const links::LinkId link : busiest) {
    std::vector<LinkChange> changes;
    for (const auto& [id, start_s, end_s] : all) {
      if (std::ranges::count(paths[id].links, link) > 0) {
        changes.push_back({start_s, 1});
        changes.push_back({end_s, -1});
      }
    }
    add_counter(file.fabric.links[link].from, "flows on " + file.fabric.link_names[link],
                std::move(changes), timeline);
  }
}

} // namespace

events::Timeline flows_timeline(const FlowsFile& file, const FlowsResult& result) {
  events::Timeline timeline;
  timeline.node_names = file.fabric.node_names;
  const std::vector<Life> all = lives(file, result);
  add_spans(file, result, all, timeline);
  add_counters(file, result, all, timeline);
  return timeline;
}

} // namespace stepsim::study
