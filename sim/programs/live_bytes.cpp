#include "programs/live_bytes.hpp"

#include "base/collected.hpp"

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
  const std::int32_t units = base::greatest<std::int32_t>(
      program.operations, 0, [](const Operation& each) { return each.unit + 1; });
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

LiveChanges::LiveChanges(std::span<const LiveSpan> spans, const LiveBytes& bytes) {
  changes_.reserve(2 * spans.size());
  for (const LiveSpan& span : spans) {
    const auto kind = static_cast<std::uint8_t>(span.kind);
    const double held = bytes[kind].empty() ? 0 : bytes[kind][span.unit];
    if (held > 0) {
      changes_.push_back({span.from, true, kind, held, 0, span.unit});
      changes_.push_back({span.to, false, kind, 0 - held, 0, span.unit});
    }
  }
}

void LiveChanges::renew(const LiveBytes& bytes) {
  for (Change& change : changes_) {
    const double held = bytes[change.kind][change.unit];
    change.bytes = change.begins ? held : 0 - held;
  }
  peak_.reset();
}

LivePeak LiveChanges::peak(const OperationTimes& times, std::int64_t iteration) {
  const std::size_t row = times.at(times.row(iteration), 0, 0);
  const std::size_t width = times.width();
  const std::array of{times.end.data() + row, times.start.data() + row};
  const auto time_of = [&](const Change& change) {
    return of[change.begins ? 1 : 0][change.operation * width];
  };
  double latest = -1;
  auto next = changes_.begin();
  for (; next != changes_.end(); ++next) {
    const double time = time_of(*next);
    if (time <= latest && (time < latest || next->key() < (next - 1)->key())) {
      break;
    }
    latest = time;
  }
  if (next != changes_.end()) {
    for (Change& change : changes_) {
      change.time = time_of(change);
    }
    std::ranges::sort(changes_, [](const Change& a, const Change& b) {
      return a.time != b.time ? a.time < b.time : a.key() < b.key();
    });
  } else if (peak_) {
    return *peak_;
  }
  LivePeak peak;
  LivePeak now;
  for (const Change& change : changes_) {
    now.bytes += change.bytes;
    now.of_kind[change.kind] += change.bytes;
    if (now.bytes > peak.bytes) {
      peak = now;
    }
  }
  return *(peak_ = peak);
}

} // namespace stepsim::programs
