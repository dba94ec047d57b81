#include "programs/event_pass.hpp"

#include <cmath>

#include "programs/program_events.hpp"
#include "programs/steady_state.hpp"

namespace stepsim::programs {

std::int64_t iterations_after(const Program& program) {
  const bool shared = std::ranges::any_of(program.streams, [](const Stream& stream) {
    return stream.discipline == Discipline::at_once;
  });
  return program.interference.any() || shared ? longest_wait(program) : 0;
}

OperationTimes event_pass(const Program& program, std::int64_t iterations, const Factors& factors,
                          Record record) {
  assert(program.enters_together() && "exchanges start together");
  ProgramEvents events(program, iterations, factors, record);
  for (double now = 0; now < kNever; now = events.next_time()) {
    events.advance(now);
  }
  assert(events.finished() && "a valid program comes to its end");
  return events.take_times();
}

namespace {

constexpr double kSame = 1e-12; // of the time of the run
constexpr std::int64_t kMostOperations = std::int64_t{1} << 22;
constexpr std::int64_t kFewestIterations = 64; // before it gives up
constexpr std::int64_t kMostIterations = 1024;

// Iterations that the next one can depend on.
std::int64_t window_of(const Program& program) {
  return std::max<std::int64_t>(1, longest_wait(program));
}

// The last of `iterations` that is disturbed by none after it.
std::int64_t last_of(std::int64_t iterations, std::int64_t window) {
  return iterations - 1 - std::max(window, iterations / 8);
}

// Whether iterations last - window + 1 .. last are those of `cyclicity` iterations before, shifted.
bool repeats(const OperationTimes& times, std::int64_t last, std::int64_t window,
             std::int64_t cyclicity) {
  const double shift = latest_marker_end(times, last) - latest_marker_end(times, last - cyclicity);
  const double same = kSame * latest_marker_end(times, last);
  const std::size_t back = times.at(cyclicity, 0, 0);
  const auto is_shifted = [&](const std::vector<double>& all) {
    for (std::size_t i = times.at(last - window + 1, 0, 0); i < times.at(last + 1, 0, 0); ++i) {
      if (std::abs(all[i] - all[i - back] - shift) > same) {
        return false;
      }
    }
    return true;
  };
  return is_shifted(times.end) && is_shifted(times.start);
}

} // namespace

std::optional<EventPeriod> repetition(const Program& program, const OperationTimes& times) {
  const std::int64_t window = window_of(program);
  for (std::int64_t n = 2 + 2 * window; n <= times.iterations; n *= 2) {
    const std::int64_t last = last_of(n, window); // the first starts from idle streams
    for (std::int64_t c = 1; c + window <= last; ++c) {
      if (repeats(times, last, window, c)) {
        const double shift = latest_marker_end(times, last) - latest_marker_end(times, last - c);
        return EventPeriod{
            .period = {shift / static_cast<double>(c)}, .cyclicity = c, .steady_from = last - c};
      }
    }
  }
  return std::nullopt;
}

EventPeriod event_period(const Program& program) {
  return event_period(program, layout_of(program));
}

EventPeriod event_period(const Program& given, const OperationLayout& layout) {
  if (const std::optional<double> period = period_from_idle(given, layout, given.interference)) {
    return {.period = {*period}, .cyclicity = 1, .steady_from = 0};
  }
  const bool warms =
      std::ranges::any_of(given.waits, [](const Wait& wait) { return wait.until != kAlways; });
  if (warms) {
    return event_period(without_warmup(given));
  }
  const bool fifo = fifo_pass_applies(given);
  const std::optional<Program> one = fifo ? std::nullopt : std::optional(one_rank(given));
  const Program& program = one ? *one : given;
  const std::int64_t window = window_of(program);
  const std::int64_t operations = std::max<std::int64_t>(1, program.iteration_size());
  const std::int64_t most =
      std::clamp(kMostOperations / operations, kFewestIterations, kMostIterations);
  for (std::int64_t iterations = 2 + 2 * window;; iterations *= 2) {
    const bool gives_up = iterations >= most;
    const std::int64_t needed = gives_up ? iterations : last_of(iterations, window) + 1;
    const OperationTimes times = fifo ? fifo_pass(program, iterations, Record::all, needed)
                                      : event_pass(program, iterations, {}, Record::all);
    if (const std::optional<EventPeriod> found = repetition(program, times)) {
      return *found;
    }
    if (gives_up) {
      return {.period = mean_period(times, iterations / 2), .cyclicity = 0, .steady_from = 0};
    }
  }
}

} // namespace stepsim::programs
