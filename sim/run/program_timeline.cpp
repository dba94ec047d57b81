#include "run/program_timeline.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace stepsim::study {

namespace {

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

} // namespace

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

} // namespace stepsim::study
