// A program is drawn operation by operation. Of asynchronous servers only iterations are known, as
// one span of computing in lane 0 of every node and one of exchanges in lane 1; one row of lanes
// stands for all workers of a node.

#include "run/run_timeline.hpp"

#include "base/shared_value.hpp"
#include "run/run.hpp"
#include "scenario/node_counts.hpp"

namespace stepsim::study {

namespace {

constexpr std::uint32_t kComputeLane = 0;
constexpr std::uint32_t kCommunicationLane = 1;
constexpr std::int64_t kDefaultNodes = 8;

void add_span(events::Track track, double start, double end, const std::string& name,
              std::string_view category, events::Timeline& timeline) {
  if (end > start) {
    timeline.spans.push_back({.track = track,
                              .start = {start},
                              .end = {end},
                              .name = name,
                              .category = std::string(category)});
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

// What the spans of exchanges carry: their bucket, its size and its algorithm. Broadcasts of
// parameters are of no bucket.
void name_buckets(const std::vector<Bucket>& buckets, std::size_t first,
                  events::Timeline& timeline) {
  for (std::size_t i = first; i < timeline.spans.size(); ++i) {
    events::Span& span = timeline.spans[i];
    const auto unit =
        std::ranges::find(span.numbers, "unit", [](const auto& n) { return n.first; });
    if (span.category != "communication" || unit == span.numbers.end()) {
      continue;
    }
    const auto number = static_cast<std::int64_t>(unit->second);
    if (const auto* bucket = base::found(buckets, number, &Bucket::unit)) {
      span.texts.emplace_back("algorithm", bucket->algorithm);
      span.numbers.emplace_back("bucket", static_cast<double>(bucket->index));
      span.numbers.emplace_back("bytes", static_cast<double>(bucket->bytes.value));
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
                           : std::max<std::int64_t>(0, iterations - kTimedIterations),
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

struct DrawnRank {
  const ProgramRun& run;
  std::uint32_t rank{};
};
// The first rank of a node, in the program of its job.
DrawnRank drawn_rank(const Result& result, std::int64_t node) {
  const ProgramRun* run = &*result.program;
  std::int64_t nodes = result.scenario->first_job_nodes;
  for (std::size_t job = 0; job < result.other_programs.size() && node >= nodes; ++job) {
    run = &result.other_programs[job];
    node -= nodes;
    nodes = result.scenario->other_jobs[job].nodes;
  }
  return {*run, first_rank(result.scenario->cluster, node)};
}

// Counters are kept as changes: +1 and -1 where messages start and end, or plus and minus a share
// of the capacity. Sorted by time and summed up they give the value at every instant.

// Links of the connections of the first job, as the network takes them.
class ConnectionPaths {
public:
  explicit ConnectionPaths(const links::RankFabric& fabric) : fabric_(fabric) {}

  bool passes(const programs::JobMessage& message, links::LinkId link) {
    const std::uint64_t connection = programs::connection_number(fabric_.hosts.size(), 0, message);
    // A job uses the same connections again and again; each path is looked up once.
    const std::vector<links::LinkId>& links = base::remembered(known_, connection, [&] {
      const links::NodeId from = fabric_.hosts[message.src];
      const links::NodeId to = fabric_.hosts[message.dst];
      return fabric_.paths.spray
                 ? links::sprayed_path(fabric_.fabric(), fabric_.routes(), from, to).links
                 : fabric_.routes().ecmp_path(from, to, connection, fabric_.paths.seed);
    });
    return std::ranges::find(links, link) != links.end();
  }

private:
  const links::RankFabric& fabric_;
  std::map<std::uint64_t, std::vector<links::LinkId>> known_; // by connection_number()
};

std::vector<LinkChange> changes_of_messages(const Result& result, ConnectionPaths& paths,
                                            links::LinkId link, std::int64_t first,
                                            std::int64_t last) {
  std::vector<LinkChange> changes;
  for (const programs::JobMessage& message : result.messages) {
    if (message.iteration >= first && message.iteration <= last && paths.passes(message, link)) {
      changes.push_back({message.start_s, 1});
      changes.push_back({message.end_s, -1});
    }
  }
  return changes;
}

std::vector<LinkChange> changes_of_buckets(const ProgramRun& run, const LinkHeat& heat,
                                           std::int64_t first, std::int64_t last) {
  std::vector<LinkChange> changes;
  for (std::int64_t k = first; k <= last; ++k) {
    for (std::uint32_t o = 0; o < run.program.iteration_size(); ++o) {
      const programs::Operation& each = run.program.operations[o];
      if (each.type == programs::OperationType::exchange && each.unit >= 0) {
        constexpr double kPercent = 100;
        const std::size_t at = run.times.at(k, o, 0);
        const double used = kPercent * heat.of_bucket[static_cast<std::size_t>(each.unit)];
        changes.push_back({run.times.start[at], used});
        changes.push_back({run.times.end[at], -used});
      }
    }
  }
  return changes;
}

// Operations by their start, so that those that overlap take lanes in turn.
std::vector<std::uint32_t> by_start(const programs::OperationTimes& times, std::int64_t iteration,
                                    std::uint32_t rank) {
  std::vector<std::uint32_t> order(times.operations);
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(
      order, {}, [&](std::uint32_t o) { return times.start[times.at(iteration, o, rank)]; });
  return order;
}

// One lane per stream, and more where operations of a stream overlap: slices of one lane do not
// cross.
class Lanes {
public:
  Lanes(const programs::Program& program, std::uint32_t node, events::Timeline& timeline)
      : program_(program), node_(node), timeline_(timeline), lanes_(program.streams.size()) {
    for (std::uint32_t s = 0; s < lanes_.size(); ++s) {
      lanes_[s].push_back({.lane = s, .until_s = 0});
    }
    next_ = static_cast<std::uint32_t>(lanes_.size());
  }

  [[nodiscard]] std::uint32_t free(std::uint32_t stream, double start_s, double end_s) {
    auto found = std::ranges::find_if(lanes_[stream], [&](const Lane& lane) {
      return program_.streams[stream].discipline == programs::Discipline::fifo ||
             lane.until_s <= start_s;
    });
    if (found == lanes_[stream].end()) {
      timeline_.lane_names.push_back({{node_, next_}, program_.streams[stream].name});
      found = lanes_[stream].insert(found, {.lane = next_++, .until_s = 0});
    }
    found->until_s = end_s;
    return found->lane;
  }

private:
  struct Lane {
    std::uint32_t lane{};
    double until_s{};
  };
  const programs::Program& program_;
  std::uint32_t node_;
  events::Timeline& timeline_;
  std::vector<std::vector<Lane>> lanes_; // [stream]
  std::uint32_t next_{};
};

// An arrow from the end of what made the exchange ready to its start.
void draw_readiness(const ProgramRun& run, std::uint32_t operation, std::int64_t iteration,
                    std::uint32_t rank, const events::Span& span, events::Timeline& timeline) {
  std::optional<std::uint32_t> last;
  const auto end_of = [&](std::uint32_t o) {
    return run.times.end[run.times.at(iteration, o, rank)];
  };
  for (const programs::Wait& wait : run.program.waits_of(operation)) {
    if (wait.distance == 0 && (!last || end_of(wait.operation) > end_of(*last))) {
      last = wait.operation;
    }
  }
  if (last && end_of(*last) <= span.start.value) {
    timeline.arrows.push_back({.from = {span.track.node, run.program.operations[*last].stream},
                               .from_time = {end_of(*last)},
                               .to = span.track,
                               .to_time = span.start,
                               .name = span.name + " ready"});
  }
}

// Adds an arrow from the end of the last exchange of iteration `gradient` to the start of
// `iteration`, which applies that gradient. Nothing without exchanges.
void draw_gradient(const ProgramRun& run, std::uint32_t node, std::uint32_t rank,
                   std::int64_t gradient, std::int64_t iteration, events::Timeline& timeline) {
  const programs::OperationTimes& times = run.times;
  const std::uint32_t shown = rank < times.ranks ? rank : 0;
  std::optional<std::uint32_t> last; // exchange
  for (std::uint32_t o = 0; o < run.program.iteration_size(); ++o) {
    const bool exchange = run.program.operations[o].type == programs::OperationType::exchange;
    if (exchange && (!last || times.end[times.at(gradient, o, shown)] >=
                                  times.end[times.at(gradient, *last, shown)])) {
      last = o;
    }
  }
  if (last) {
    timeline.arrows.push_back({.from = {node, run.program.operations[*last].stream},
                               .from_time = {times.end[times.at(gradient, *last, shown)]},
                               .to = {node, run.program.operations.front().stream},
                               .to_time = {times.start[times.at(iteration, 0, shown)]},
                               .name = "gradient " + std::to_string(gradient)});
  }
}

// Adds the iterations first..last of rank `rank` (numbered from 0, both included) as tracks of node
// `node`. If all ranks are equal, the run holds the times of rank 0 only, which are taken for every
// `rank`. Operations of length 0 are left out.
void draw_program(const ProgramRun& run, std::uint32_t node, std::uint32_t rank, std::int64_t first,
                  std::int64_t last, events::Timeline& timeline) {
  const programs::Program& program = run.program;
  const std::uint32_t shown = rank < run.times.ranks ? rank : 0;
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    timeline.lane_names.push_back(
        {{node, static_cast<std::uint32_t>(stream)}, program.streams[stream].name});
  }
  Lanes lanes(program, node, timeline);
  for (std::int64_t t = first; t <= last; ++t) {
    for (const std::uint32_t o : by_start(run.times, t, shown)) {
      const programs::Operation& each = program.operations[o];
      const std::size_t at = run.times.at(t, o, shown);
      if (!(run.times.end[at] > run.times.start[at])) {
        continue;
      }
      const bool exchange = each.type == programs::OperationType::exchange;
      events::Span span{
          .track = {node, lanes.free(each.stream, run.times.start[at], run.times.end[at])},
          .start = {run.times.start[at]},
          .end = {run.times.end[at]},
          .name = each.id,
          .category = exchange ? "communication" : std::string(programs::kKinds[each.kind]),
          .texts = {{"kind", std::string(programs::kKinds[each.kind])}},
          .numbers = {{"iteration", static_cast<double>(t)}}};
      if (each.unit >= 0) {
        span.numbers.emplace_back("unit", static_cast<double>(each.unit));
      }
      if (each.first_layer >= 0) {
        span.numbers.emplace_back("first_layer", static_cast<double>(each.first_layer + 1));
        span.numbers.emplace_back("last_layer", static_cast<double>(each.last_layer + 1));
      }
      if (exchange) {
        draw_readiness(run, o, t, shown, span, timeline);
      }
      timeline.spans.push_back(std::move(span));
    }
  }
}

} // namespace

void add_counter(std::uint32_t node, const std::string& name, std::vector<LinkChange> changes,
                 events::Timeline& timeline) {
  std::ranges::stable_sort(changes, {}, &LinkChange::time_s);
  double value = 0;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    value += changes[i].by;
    // Of several changes at one instant only the last value is shown: those between lasted no time.
    if (i + 1 == changes.size() || changes[i + 1].time_s > changes[i].time_s) {
      constexpr double kRounding = 1e-9; // of sums of percentages
      timeline.counters.push_back({.node = node,
                                   .name = name,
                                   .time = {changes[i].time_s},
                                   .value = std::abs(value) < kRounding ? 0 : value});
    }
  }
}

void add_link_counters(const Result& result, std::int64_t first, std::int64_t last,
                       events::Timeline& timeline) {
  if (result.links.empty()) {
    return;
  }
  const links::RankFabric& fabric = *result.scenario->cluster.fabric;
  const auto node = static_cast<std::uint32_t>(timeline.node_names.size());
  timeline.node_names.emplace_back("network");
  if (!result.messages.empty()) {
    ConnectionPaths paths(fabric);
    for (const links::LinkId link : busiest_links(result.links, kHotLinks)) {
      add_counter(node, "messages on " + fabric.fabric().link_names[link],
                  changes_of_messages(result, paths, link, first, last), timeline);
    }
    return;
  }
  for (const LinkHeat& heat : result.heat) { // of a program
    add_counter(node, "use of " + fabric.fabric().link_names[heat.link] + " [%]",
                changes_of_buckets(*result.program, heat, first, last), timeline);
  }
}

events::Timeline timeline(const Result& result, const TimelineFilter& filter) {
  events::Timeline timeline;
  const Scenario& scenario = *result.scenario;
  // An asynchronous worker may have come less far than asked for.
  const Shown shown = shown_of(
      filter, scenario.cluster.nodes,
      std::min(scenario.training.iterations, static_cast<std::int64_t>(result.iterations.size())));
  const std::int64_t first = shown.first;
  if (result.program && first < result.program->times.recorded_from) {
    return study::timeline(run(scenario, Detail::every_iteration), filter);
  }
  for (const std::int64_t number : shown.nodes) {
    const std::uint32_t node = add_node("node", number, timeline);
    if (result.program) {
      const auto& [run, rank] = drawn_rank(result, number);
      const std::size_t spans = timeline.spans.size();
      draw_program(run, node, rank, first, shown.last, timeline);
      if (&run == &*result.program) { // whose buckets are known
        name_buckets(result.buckets, spans, timeline);
      }
      const bool pipelined = scenario.training.algorithm == TrainingAlgorithm::pipe_sgd;
      for (std::int64_t k = first; pipelined && k <= shown.last; ++k) {
        const auto applied = result.iterations[static_cast<std::size_t>(k)].applied_gradient;
        if (applied && *applied >= first) {
          draw_gradient(run, node, rank, *applied, k, timeline);
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
