// Iterations that are copies of one step are drawn layer by layer and message by message; all
// others as one span of computing and one of exchanges. Lane 0 of every node computes and lane 1
// communicates; one row of lanes stands for all workers of a node.
#include "run/run_timeline.hpp"

#include <algorithm>
#include <string>

#include "run/link_counters.hpp"
#include "run/planned_messages.hpp"
#include "run/program_timeline.hpp"
#include "run/run.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

constexpr std::uint32_t kComputeLane = 0;
constexpr std::uint32_t kCommunicationLane = 1;
constexpr std::int64_t kDefaultNodes = 8;
constexpr std::int64_t kDefaultIterations = 3;

struct Painter {
  const Result& result;
  events::Timeline& timeline;
  std::vector<double> updates; // s, directly before the forward of each layer

  void compute(std::uint32_t node, double start, double end, const std::string& name,
               std::string_view category) {
    if (end > start) {
      timeline.spans.push_back({.track = {node, kComputeLane},
                                .start = {start},
                                .end = {end},
                                .name = name,
                                .category = std::string(category),
                                .texts = {},
                                .numbers = {}});
    }
  }

  // How long a layer takes in a steady iteration, stretched where exchanges slow computing.
  [[nodiscard]] double forward_s(std::size_t layer) const {
    const LayerResult& times = result.layers[layer];
    return is_slowed() ? times.forward_end_s - times.forward_start_s
                       : result.scenario.workload.layers[layer].forward.value;
  }
  [[nodiscard]] double backward_s(std::size_t layer) const {
    const LayerResult& times = result.layers[layer];
    return is_slowed() ? times.backward_end_s - times.backward_start_s
                       : result.scenario.workload.layers[layer].backward.value;
  }
  [[nodiscard]] bool is_slowed() const { return result.summary.interference_s.has_value(); }

  // Forward of iteration k: at the start of the run without waiting, later as messages arrive.
  // In a steady iteration the forward of a layer starts when its messages have arrived and its
  // weights are updated, so that there are gaps between layers.
  void forward(std::uint32_t node, std::int64_t k) {
    const auto& layers = result.scenario.workload.layers;
    double t = 0;
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (k > 0) {
        const double last = t; // end of the layer before
        t = programs::backward_start_s(result.step, k - 1) + result.step.next_forward_s[l];
        compute(node, l == 0 ? t - updates[l] : std::max(last, t - updates[l]), t, "update",
                "update");
      }
      const double seconds = forward_s(l);
      compute(node, t, t + seconds, layers[l].name, "forward");
      t += seconds;
    }
  }

  void backward(std::uint32_t node, std::int64_t k) {
    const auto& layers = result.scenario.workload.layers;
    double t = programs::backward_start_s(result.step, k);
    for (std::size_t l = layers.size(); l-- > 0;) {
      const double seconds = backward_s(l);
      compute(node, t, t + seconds, layers[l].name, "backward");
      t += seconds;
    }
  }

  void message(std::uint32_t node, const Bucket& bucket, double start, double end,
               const std::string& name) {
    timeline.spans.push_back({.track = {node, kCommunicationLane},
                              .start = {start},
                              .end = {end},
                              .name = name,
                              .category = "communication",
                              .texts = {{"algorithm", bucket.algorithm}},
                              .numbers = {{"bucket", static_cast<double>(bucket.index)},
                                          {"bytes", static_cast<double>(bucket.bytes.value)},
                                          {"first_layer", static_cast<double>(bucket.first)},
                                          {"last_layer", static_cast<double>(bucket.last)}}});
  }

  // Where iterations are not copies of one step (asynchronous, varying workers): one span of
  // computing, from the first worker's start to the last one's end, and one of exchanges.
  void whole(std::uint32_t node, std::int64_t k) {
    const Iteration& iteration = result.iterations[static_cast<std::size_t>(k)];
    const std::string name = "iteration " + std::to_string(iteration.index);
    compute(node, iteration.start_s, iteration.compute_end_s, name, "compute");
    if (iteration.exchange_end_s > iteration.exchange_start_s) {
      timeline.spans.push_back({.track = {node, kCommunicationLane},
                                .start = {iteration.exchange_start_s},
                                .end = {iteration.exchange_end_s},
                                .name = "exchange " + std::to_string(iteration.index),
                                .category = "communication",
                                .texts = {},
                                .numbers = {}});
      timeline.arrows.push_back({.from = {node, kComputeLane},
                                 .from_time = {iteration.compute_end_s},
                                 .to = {node, kCommunicationLane},
                                 .to_time = {iteration.exchange_start_s},
                                 .name = name + " ready"});
    }
  }

  void messages(std::uint32_t node, std::int64_t k) {
    const double origin = programs::backward_start_s(result.step, k);
    for (std::size_t g = 0; g < result.buckets.size(); ++g) {
      const Bucket& bucket = result.buckets[g];
      const programs::MessageTimes& times = result.step.messages[g];
      const std::string name = "bucket " + std::to_string(bucket.index);
      const double ready = origin + bucket.ready_s - result.step.forward_s;
      message(node, bucket, origin + times.start_s, origin + times.end_s, name);
      timeline.arrows.push_back({.from = {node, kComputeLane},
                                 .from_time = {ready},
                                 .to = {node, kCommunicationLane},
                                 .to_time = {origin + times.start_s},
                                 .name = name + " ready"});
      if (times.broadcast_end_s > times.broadcast_start_s) {
        message(node, bucket, origin + times.broadcast_start_s, origin + times.broadcast_end_s,
                name + (has_all_gathers(result.scenario) ? " all-gather" : " broadcast"));
      }
    }
  }
};

// Each layer's share of the update, or all of it before the first layer. With a reduction and a
// broadcast the root updates between the two, on the lane of messages.
std::vector<double> updates_of(const Scenario& scenario) {
  const programs::StepInput input = step_input(scenario);
  std::vector<double> updates = programs::layer_updates(input);
  if (!updates.empty() && !input.reduce_broadcast &&
      std::ranges::all_of(updates, [](double share) { return share == 0; })) {
    updates.front() = input.update_s;
  }
  return updates;
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
  Painter painter{result, timeline, updates_of(scenario)};
  for (const std::int64_t number : shown.nodes) {
    const std::uint32_t node = add_node("node", number, timeline);
    if (result.program) {
      const std::uint32_t rank = first_rank(scenario.cluster, number);
      draw_program(*result.program, node, rank, first, shown.last, timeline);
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
      if (result.step.messages.size() != result.buckets.size() ||
          result.step.next_forward_s.empty()) {
        painter.whole(node, k);
        continue;
      }
      painter.forward(node, k);
      painter.backward(node, k);
      painter.messages(node, k);
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
