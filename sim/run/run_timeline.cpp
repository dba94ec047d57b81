// A program is drawn operation by operation. Of servers that take pushes one by one only iterations
// are known, as one span of computing in lane 0 of every node and one of exchanges in lane 1; one
// row of lanes stands for all workers of a node.
#include "run/run_timeline.hpp"

#include <algorithm>
#include <string>

#include "run/link_counters.hpp"
#include "run/program_timeline.hpp"
#include "run/run.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

constexpr std::uint32_t kComputeLane = 0;
constexpr std::uint32_t kCommunicationLane = 1;
constexpr std::int64_t kDefaultNodes = 8;
constexpr std::int64_t kDefaultIterations = 3;

void add_span(events::Track track, double start, double end, const std::string& name,
              std::string_view category, events::Timeline& timeline) {
  if (end > start) {
    timeline.spans.push_back({.track = track,
                              .start = {start},
                              .end = {end},
                              .name = name,
                              .category = std::string(category),
                              .texts = {},
                              .numbers = {}});
  }
}

// From the first worker's start to the last one's end.
void draw_iteration(const Iteration& iteration, std::uint32_t node, events::Timeline& timeline) {
  const std::string number = std::to_string(iteration.index);
  const events::Track computes{node, kComputeLane};
  const events::Track sends{node, kCommunicationLane};
  add_span(computes, iteration.start_s, iteration.compute_end_s, "iteration " + number, "compute",
           timeline);
  add_span(sends, iteration.exchange_start_s, iteration.exchange_end_s, "exchange " + number,
           "communication", timeline);
  if (iteration.exchange_end_s > iteration.exchange_start_s) {
    timeline.arrows.push_back({.from = computes,
                               .from_time = {iteration.compute_end_s},
                               .to = sends,
                               .to_time = {iteration.exchange_start_s},
                               .name = "iteration " + number + " ready"});
  }
}

// What the spans of exchanges carry: their bucket, its size and its algorithm.
void name_buckets(const std::vector<Bucket>& buckets, std::size_t first,
                  events::Timeline& timeline) {
  for (std::size_t i = first; i < timeline.spans.size(); ++i) {
    events::Span& span = timeline.spans[i];
    const auto unit =
        std::ranges::find(span.numbers, "unit", [](const auto& n) { return n.first; });
    if (span.category == "communication" && unit != span.numbers.end() && !buckets.empty()) {
      const auto number = static_cast<std::int64_t>(unit->second);
      const Bucket& bucket = *std::ranges::find(buckets, number, &Bucket::unit);
      span.texts.emplace_back("algorithm", bucket.algorithm);
      span.numbers.emplace_back("bucket", static_cast<double>(bucket.index));
      span.numbers.emplace_back("bytes", static_cast<double>(bucket.bytes.value));
    }
  }
}

struct Shown {
  std::vector<std::int64_t> nodes;
  std::int64_t first{}, last{}; // iterations, both included
};

// What the filter leaves open: the first nodes and the last iterations are shown, because nodes are
// alike and the end of a run is steady.
Shown shown_of(const TimelineFilter& filter, std::int64_t nodes, std::int64_t iterations) {
  Shown shown{.nodes = filter.nodes,
              .first = filter.first_iteration >= 0
                           ? filter.first_iteration
                           : std::max<std::int64_t>(0, iterations - kDefaultIterations),
              .last = filter.last_iteration >= 0 ? std::min(filter.last_iteration, iterations - 1)
                                                 : iterations - 1};
  for (std::int64_t n = 0; filter.nodes.empty() && n < std::min(nodes, kDefaultNodes); ++n) {
    shown.nodes.push_back(n);
  }
  return shown;
}

// Gives the node of this number its name, "node 3" or "rank 3".
std::uint32_t add_node(std::string_view noun, std::int64_t number, events::Timeline& timeline) {
  const auto node = static_cast<std::uint32_t>(number);
  timeline.node_names.resize(std::max<std::size_t>(timeline.node_names.size(), node + 1U));
  timeline.node_names[node] = std::string(noun) + " " + std::to_string(number);
  return node;
}

} // namespace

events::Timeline timeline(const Result& result, const TimelineFilter& filter) {
  events::Timeline timeline;
  const Scenario& scenario = result.scenario;
  // An asynchronous worker may have come less far than asked for.
  const Shown shown = shown_of(
      filter, scenario.cluster.nodes,
      std::min(scenario.training.iterations, static_cast<std::int64_t>(result.iterations.size())));
  const std::int64_t first = shown.first;
  for (const std::int64_t number : shown.nodes) {
    const std::uint32_t node = add_node("node", number, timeline);
    if (result.program) {
      const std::uint32_t rank = first_rank(scenario.cluster, number);
      const std::size_t spans = timeline.spans.size();
      draw_program(*result.program, node, rank, first, shown.last, timeline);
      name_buckets(result.buckets, spans, timeline);
      const bool pipelined = scenario.training.algorithm == TrainingAlgorithm::pipe_sgd;
      for (std::int64_t k = first; pipelined && k <= shown.last; ++k) {
        const auto applied = result.iterations[static_cast<std::size_t>(k)].applied_gradient;
        if (applied && *applied >= first) {
          draw_gradient(*result.program, node, rank, *applied, k, timeline);
        }
      }
      continue;
    }
    timeline.lane_names.push_back({{node, kComputeLane}, "compute"});
    timeline.lane_names.push_back({{node, kCommunicationLane}, "communication"});
    for (std::int64_t k = first; k <= shown.last; ++k) {
      draw_iteration(result.iterations[static_cast<std::size_t>(k)], node, timeline);
    }
  }
  add_link_counters(result, first, shown.last, timeline);
  return timeline;
}

events::Timeline timeline(const ProgramRun& run, const TimelineFilter& filter) {
  events::Timeline timeline;
  const Shown shown = shown_of(filter, run.program.ranks, run.times.iterations);
  for (const std::int64_t rank : shown.nodes) {
    draw_program(run, add_node("rank", rank, timeline), static_cast<std::uint32_t>(rank),
                 shown.first, shown.last, timeline);
  }
  return timeline;
}

} // namespace stepsim::study
