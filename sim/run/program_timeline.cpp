#include "run/program_timeline.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace stepsim::study {

void draw_program(const ProgramRun& run, std::uint32_t node, std::uint32_t rank, std::int64_t first,
                  std::int64_t last, events::Timeline& timeline) {
  const programs::Program& program = run.program;
  const std::uint32_t shown = rank < run.times.ranks ? rank : 0;
  for (std::size_t stream = 0; stream < program.streams.size(); ++stream) {
    timeline.lane_names.push_back(
        {{node, static_cast<std::uint32_t>(stream)}, program.streams[stream].name});
  }
  for (std::int64_t t = first; t <= last; ++t) {
    for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
      const programs::Operation& each = program.operations[o];
      const std::size_t at = run.times.at(t, o, shown);
      if (!(run.times.end[at] > run.times.start[at])) {
        continue;
      }
      const bool exchange = each.type == programs::OperationType::exchange;
      events::Span span{.track = {node, each.stream},
                        .start = {run.times.start[at]},
                        .end = {run.times.end[at]},
                        .name = each.id,
                        .category =
                            exchange ? "communication" : std::string(programs::kKinds[each.kind]),
                        .texts = {{"kind", std::string(programs::kKinds[each.kind])}},
                        .numbers = {{"iteration", static_cast<double>(t)}}};
      if (each.unit >= 0) {
        span.numbers.emplace_back("unit", static_cast<double>(each.unit));
      }
      if (each.first_layer >= 0) {
        span.numbers.emplace_back("first_layer", static_cast<double>(each.first_layer + 1));
        span.numbers.emplace_back("last_layer", static_cast<double>(each.last_layer + 1));
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
