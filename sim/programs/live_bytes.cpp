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

std::vector<LiveSpan> live_spans(const Program& program) {
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
  for (std::uint32_t o = 0; o < program.iteration_size(); ++o) {
    const Operation& each = program.operations[o];
    if (each.unit < 0) {
      continue;
    }
    const auto unit = static_cast<std::uint32_t>(each.unit);
    if (each.kind == Kind::forward || each.kind == Kind::backward) {
      if (const std::uint32_t gather = gather_of(program, o); gather != kAllRanks) {
        gathered[unit] = spans.size();
        spans.push_back({.unit = unit, .kind = LiveKind::parameters, .from = gather, .to = o});
      }
      if (gathered[unit] != kNone) {
        spans[gathered[unit]].to = o;
      }
    }
    if (each.kind == Kind::forward) {
      ahead[unit].push_back(spans.size());
      spans.push_back({.unit = unit, .kind = LiveKind::activations, .from = o, .to = o});
    } else if (each.kind == Kind::backward) {
      if (!ahead[unit].empty()) {
        spans[ahead[unit].back()].to = o;
        ahead[unit].pop_back();
      }
      spans.push_back({.unit = unit, .kind = LiveKind::again, .from = o, .to = o});
    }
    if (each.kind == Kind::backward && computed[unit] == kNone) {
      computed[unit] = spans.size();
      spans.push_back({.unit = unit, .kind = LiveKind::gradients, .from = o, .to = o});
    } else if (each.kind == Kind::reduce_scatter && computed[unit] != kNone) {
      spans[std::exchange(computed[unit], kNone)].to = o;
    }
  }
  return spans;
}

// Spans of a kind mostly begin in turn and end in turn: lists in order of time, which are merged.
LivePeak live_peak(std::span<const LiveSpan> spans, const LiveBytes& bytes,
                   const OperationTimes& times, std::int64_t iteration) {
  struct Change {
    double time, bytes;
    std::size_t kind;
  };
  const auto is_before = [](const Change& a, const Change& b) { // what is freed comes first
    return a.time != b.time ? a.time < b.time
                            : std::tie(a.bytes, a.kind) < std::tie(b.bytes, b.kind);
  };
  const std::size_t row = times.at(times.row(iteration), 0, 0);
  const double later = times.later_s(iteration);
  std::array<std::vector<Change>, 2 * kLiveKinds> lists;
  for (const LiveSpan& span : spans) {
    const auto kind = static_cast<std::size_t>(span.kind);
    const double held = bytes[kind].empty() ? 0 : bytes[kind][span.unit];
    if (held > 0) {
      const auto time = [&](const std::vector<double>& of, std::size_t operation) {
        return of[row + operation * times.width()] + later;
      };
      lists[2 * kind].push_back({time(times.start, span.from), held, kind});
      lists[2 * kind + 1].push_back({time(times.end, span.to), 0 - held, kind});
    }
  }
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<const Change*> next; // of each list, the first one first
  const auto move_back = [&](std::size_t i) {
    for (; i + 1 < next.size() && is_before(*next[i + 1], *next[i]); ++i) {
      std::swap(next[i], next[i + 1]);
    }
  };
  for (std::vector<Change>& list : lists) {
    if (!std::ranges::is_sorted(list, is_before)) {
      std::ranges::sort(list, is_before);
    }
    list.push_back({.time = kNever, .bytes = 0, .kind = 0});
    next.insert(next.begin(), list.data());
    move_back(0);
  }
  LivePeak peak;
  LivePeak now;
  for (; next.front()->time < kNever; move_back(0)) {
    const Change& change = *next.front()++;
    now.bytes += change.bytes;
    now.of_kind[change.kind] += change.bytes;
    if (now.bytes > peak.bytes) {
      peak = now;
    }
  }
  return peak;
}

} // namespace stepsim::programs
