#include "programs/live_bytes.hpp"

#include <tuple>
#include <utility>

namespace stepsim::programs {
namespace {

// The gather that a compute waits for in its own iteration; kAllRanks without one.
std::uint32_t gather_of(const Program& program, std::uint32_t compute) {
  for (const Wait& wait : program.waits_of(compute)) {
    const Operation& awaited = program.operations[wait.operation];
    if (wait.distance == 0 && awaited.kind == Kind::allgather &&
        awaited.unit == program.operations[compute].unit) {
      return wait.operation;
    }
  }
  return kAllRanks;
}

} // namespace

std::vector<LiveSpan> live_spans(const Program& program, const OperationTimes& times,
                                 std::int64_t iteration) {
  std::vector<LiveSpan> spans;
  constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::int32_t units = 0;
  for (const Operation& each : program.operations) {
    units = std::max(units, each.unit + 1);
  }
  // By unit: the index of the span of its parameters, and of that of its gradients.
  std::vector<std::size_t> gathered(static_cast<std::size_t>(units), kNone);
  std::vector<std::size_t> computed = gathered;
  std::vector<std::vector<std::size_t>> ahead(gathered.size()); // forwards without their backward
  const std::int64_t row = times.row(iteration);
  const double later = times.later_s(iteration);
  const auto start = [&](std::uint32_t o) { return times.start[times.at(row, o, 0)] + later; };
  const auto end = [&](std::uint32_t o) { return times.end[times.at(row, o, 0)] + later; };
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    const Operation& each = program.operations[o];
    if (each.unit < 0) {
      continue;
    }
    const auto unit = static_cast<std::uint32_t>(each.unit);
    if (each.kind == Kind::forward || each.kind == Kind::backward) {
      if (const std::uint32_t gather = gather_of(program, o); gather != kAllRanks) {
        gathered[unit] = spans.size();
        spans.push_back({.unit = unit, .kind = LiveKind::parameters, .from_s = start(gather)});
      }
      if (gathered[unit] != kNone) {
        spans[gathered[unit]].to_s = end(o);
      }
    }
    if (each.kind == Kind::forward) {
      ahead[unit].push_back(spans.size());
      spans.push_back({.unit = unit, .kind = LiveKind::activations, .from_s = start(o)});
    } else if (each.kind == Kind::backward) {
      if (!ahead[unit].empty()) {
        spans[ahead[unit].back()].to_s = end(o);
        ahead[unit].pop_back();
      }
      spans.push_back({.unit = unit, .kind = LiveKind::again, .from_s = start(o), .to_s = end(o)});
    }
    if (each.kind == Kind::backward && computed[unit] == kNone) {
      computed[unit] = spans.size();
      spans.push_back(
          {.unit = unit, .kind = LiveKind::gradients, .from_s = start(o), .to_s = end(o)});
    } else if (each.kind == Kind::reduce_scatter && computed[unit] != kNone) {
      spans[std::exchange(computed[unit], kNone)].to_s = end(o);
    }
  }
  return spans;
}

LivePeak live_peak(std::span<const LiveSpan> spans, const LiveBytes& bytes) {
  struct Change {
    double time, bytes;
    std::size_t kind;
  };
  std::vector<Change> changes; // what is freed at a time comes first
  for (const LiveSpan& span : spans) {
    const auto kind = static_cast<std::size_t>(span.kind);
    if (bytes[kind].empty()) {
      continue;
    }
    changes.push_back({span.from_s, bytes[kind][span.unit], kind});
    changes.push_back({span.to_s, 0 - bytes[kind][span.unit], kind});
  }
  std::ranges::sort(changes, [](const Change& a, const Change& b) {
    return a.time != b.time ? a.time < b.time
                            : std::tie(a.bytes, a.kind) < std::tie(b.bytes, b.kind);
  });
  LivePeak peak;
  LivePeak now;
  for (const Change& change : changes) {
    now.bytes += change.bytes;
    now.of_kind[change.kind] += change.bytes;
    if (now.bytes > peak.bytes) {
      peak = now;
    }
  }
  return peak;
}

} // namespace stepsim::programs
