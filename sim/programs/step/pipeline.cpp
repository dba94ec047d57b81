#include "programs/step/pipeline.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace stepsim::programs {

namespace {

// The communication thread: when it was busy, and how far a worker with that clock gets with some
// work. With a slowdown it remembers intervals, in order of time; one that every worker has passed
// may be overwritten.
class Channel {
public:
  Channel(std::size_t capacity, double slowdown) : slowdown_(slowdown) {
    if (slowdown > 1) {
      intervals_.resize(capacity);
    }
  }

  // FIFO: when a message that is ready then starts.
  double send(double ready, double seconds) {
    const double start = std::max(free_, ready);
    free_ = start + seconds;
    if (!intervals_.empty() && free_ > start) {
      intervals_[count_++ % intervals_.size()] = {start, free_};
    }
    return start;
  }
  [[nodiscard]] double free_s() const { return free_; }

  // `cursor`: the worker's first interval that may not have ended by `now`.
  [[nodiscard]] double advance(double now, double work, std::size_t& cursor) const {
    for (; cursor < count_; ++cursor) {
      const auto& [start, end] = intervals_[cursor % intervals_.size()];
      if (end <= now) {
        continue;
      }
      if (now < start) {
        if (now + work <= start) {
          return now + work;
        }
        work -= start - now;
        now = start;
      }
      if (now + work * slowdown_ <= end) {
        return now + work * slowdown_;
      }
      work -= (end - now) / slowdown_;
      now = end;
    }
    return now + work;
  }

private:
  struct Interval {
    double start{}, end{};
  };
  std::vector<Interval> intervals_; // ring buffer
  std::size_t count_ = 0;
  double slowdown_;
  double free_ = 0;
};

struct PipelineState {
  double clock = 0;
  double factor = 1; // of this iteration
  std::size_t cursor = 0;
};

double latest(const std::vector<PipelineState>& workers) {
  return std::ranges::max_element(workers, {}, &PipelineState::clock)->clock;
}

// Every worker's compute thread and the channel through one iteration that may start at `gate`.
PipelineIteration one_iteration(const PipelineInput& input, double gate, double exchange_factor,
                                std::vector<PipelineState>& workers, Channel& channel) {
  PipelineIteration iteration;
  const double before = input.application_s + input.forward_s;
  bool first = true;
  for (PipelineState& worker : workers) {
    const double start = std::max(worker.clock, gate);
    iteration.start_s = first ? start : std::min(iteration.start_s, start);
    first = false;
    worker.clock = channel.advance(start, worker.factor * before, worker.cursor);
  }
  bool sent = false;
  for (const PipelinePiece& piece : input.pieces) {
    for (PipelineState& worker : workers) {
      worker.clock = channel.advance(worker.clock, worker.factor * piece.compute_s, worker.cursor);
    }
    if (piece.exchange_s > 0) {
      const double start =
          channel.send(latest(workers) + piece.delay_s, exchange_factor * piece.exchange_s);
      iteration.exchange_start_s = sent ? iteration.exchange_start_s : start;
      sent = true;
    }
  }
  iteration.compute_end_s = latest(workers);
  if (!sent) { // nothing to exchange: done with computing
    iteration.exchange_start_s = channel.send(iteration.compute_end_s, 0);
  }
  iteration.exchange_end_s = channel.free_s();
  return iteration;
}

// When a worker has applied the pending gradients (PIP 8).
double drained(const PipelineTimes& times, double clock, double application) {
  for (std::size_t i = times.iterations.size() - static_cast<std::size_t>(times.pending);
       i < times.iterations.size(); ++i) {
    clock = std::max(clock, times.iterations[i].exchange_end_s) + application;
  }
  return clock;
}

double period_s(const PipelineTimes& times) {
  const std::size_t half = times.iterations.size() / 2;
  double half_end = 0;
  if (half > 0) {
    const PipelineIteration& middle = times.iterations[half - 1];
    half_end = std::max(middle.exchange_end_s, middle.compute_end_s);
  }
  return (times.makespan_s - half_end) / static_cast<double>(times.iterations.size() - half);
}

// The same run with exchanges that take no time.
PipelineInput without_exchanges(PipelineInput input) {
  for (PipelinePiece& piece : input.pieces) {
    piece.exchange_s = piece.delay_s = 0;
  }
  input.compute_slowdown = 1;
  return input;
}

// Divides the period into computing and exposed communication, and sums of the workers become
// means; workers that were not simulated are like the first.
void fill_means(const PipelineInput& input, std::size_t simulated, double computing_s,
                PipelineTimes& times) {
  constexpr double kRounding = 1e-12; // of the makespan, for sums of thousands of iterations
  const double exposed = times.period_s - computing_s;
  times.exposed_s = exposed > kRounding * times.makespan_s ? exposed : 0;
  times.compute_s = exposed < -kRounding * times.makespan_s ? times.period_s : computing_s;
  const auto counted = static_cast<double>(input.iterations - input.iterations / 2);
  for (std::size_t w = 0; w < times.workers.size(); ++w) {
    PipelineWorker& worker = times.workers[w];
    worker.compute_s = w < simulated ? worker.compute_s / counted : times.workers[0].compute_s;
    const double wait = times.compute_s - worker.compute_s;
    worker.straggler_wait_s = wait > kRounding * times.makespan_s ? wait : 0;
    times.straggler_wait_s += worker.straggler_wait_s / input.workers;
  }
}

void check(const PipelineInput& input) {
  assert(input.iterations >= 1 && input.width >= 1 && input.workers >= 1 && "counts from 1");
  assert(!input.pieces.empty() && "an iteration has a piece");
  assert(input.compute_slowdown >= 1 && "a slowdown does not speed up");
  static_cast<void>(input);
}

} // namespace

double compute_seconds(const PipelineInput& input) {
  double sum = input.application_s + input.forward_s;
  for (const PipelinePiece& piece : input.pieces) {
    sum += piece.compute_s;
  }
  return sum;
}

double exchange_seconds(const PipelineInput& input) {
  return std::accumulate(
      input.pieces.begin(), input.pieces.end(), 0.0,
      [](double sum, const PipelinePiece& piece) { return sum + piece.exchange_s; });
}

std::int64_t effective_width(const PipelineInput& input) {
  return input.workers == 1 && exchange_seconds(input) == 0 ? 1 : input.width;
}

PipelineStep pipeline_step(std::int64_t t, std::int64_t width, std::int64_t warmup_iterations,
                           WarmupSwitch how) {
  assert(t >= 1 && width >= 1 && warmup_iterations >= 0 && "iterations from 1");
  if (t <= warmup_iterations || width == 1) {
    return {t - 1, t - 1};
  }
  const std::int64_t since = t - warmup_iterations; // 1 = the first step after the switch
  if (warmup_iterations > 0 && how == WarmupSwitch::block) {
    assert(width == 2 && "the block switch is defined for width 2");
    if (since <= 2) {
      return {t - 1, since == 1 ? t - 1 : 0};
    }
    return {t - 2, t - 2};
  }
  // Of the first width - 1 steps after a warm-up the gradients t - width are applied already.
  if (t <= width || (warmup_iterations > 0 && since < width)) {
    return {0, 0};
  }
  return {t - width, t - width};
}

PipelineStep pipeline_step(const PipelineSteps& steps, std::int64_t t) {
  return pipeline_step(t, steps.width, steps.warmup_iterations, steps.warmup_switch);
}

PipelineSteps pipeline_steps(const PipelineInput& input) {
  return {.iterations = input.iterations,
          .width = effective_width(input),
          .warmup_iterations = input.warmup_iterations,
          .warmup_switch = input.warmup_switch};
}

PipelineTimes run_pipeline(const PipelineInput& input) {
  check(input);
  const PipelineSteps steps = pipeline_steps(input);
  const std::int64_t width = steps.width;
  // Without differences one worker stands for all.
  const layers::Variability& variability = input.variability;
  const bool differ = variability.compute_cv > 0 || !variability.stragglers.empty();
  const layers::Jitter jitter(variability, input.workers);
  std::vector<PipelineState> workers(differ ? input.workers : 1);
  // No worker lags behind an exchange by more than the width (or the skipped steps of a switch).
  const auto window = static_cast<std::size_t>(std::min(width, input.iterations)) + 2;
  Channel channel(window * input.pieces.size(), input.compute_slowdown);

  PipelineTimes times;
  times.iterations.resize(static_cast<std::size_t>(input.iterations));
  times.workers.resize(input.workers);
  const double compute = compute_seconds(input);
  for (std::int64_t t = 1; t <= input.iterations; ++t) {
    const PipelineStep step = pipeline_step(steps, t);
    const double counts = t > input.iterations / 2 ? 1 : 0;
    for (std::uint32_t w = 0; w < workers.size(); ++w) {
      workers[w].factor = jitter.compute(w, t);
      times.workers[w].compute_s += counts * workers[w].factor * compute;
    }
    const double exchange_factor = jitter.exchange(t);
    times.exchange_s += counts * exchange_factor;
    const double gate =
        step.waits_for > 0
            ? times.iterations[static_cast<std::size_t>(step.waits_for - 1)].exchange_end_s
            : 0;
    PipelineIteration& iteration = times.iterations[static_cast<std::size_t>(t - 1)];
    iteration = one_iteration(input, gate, exchange_factor, workers, channel);
    if (step.applies > 0) {
      iteration.applied_gradient = step.applies;
    }
  }

  const PipelineIteration& last = times.iterations.back();
  times.makespan_s = std::max(last.exchange_end_s, last.compute_end_s);
  times.pending = pending_gradients(steps);
  for (std::uint32_t w = 0; w < workers.size(); ++w) {
    const double application = jitter.straggler(w) * input.application_s;
    times.drained_s = std::max(times.drained_s, drained(times, workers[w].clock, application));
  }
  times.exchange_s *=
      exchange_seconds(input) / static_cast<double>(input.iterations - input.iterations / 2);
  times.period_s = period_s(times);
  const bool sends = exchange_seconds(input) > 0;
  const double computing = !variability.varies() ? compute
                           : sends               ? run_pipeline(without_exchanges(input)).period_s
                                                 : times.period_s;
  fill_means(input, workers.size(), computing, times);
  return times;
}

std::int64_t pending_gradients(const PipelineSteps& steps) {
  // Of the last two steps one applies, and the last that does applies the highest index; in the
  // skipped steps of a switch it is further back.
  for (std::int64_t t = steps.iterations; t >= 1; --t) {
    const PipelineStep step = pipeline_step(steps, t);
    if (step.applies > 0 || t <= steps.warmup_iterations) {
      return steps.iterations - step.applies;
    }
  }
  return steps.iterations;
}

layers::StalenessCounts pipeline_staleness(const PipelineSteps& steps, bool drain) {
  layers::StalenessCounts counts;
  for (std::int64_t t = 1; t <= steps.iterations; ++t) {
    const PipelineStep step = pipeline_step(steps, t);
    if (step.applies > 0) {
      counts.add(t - 1 - step.applies);
    }
  }
  if (drain) { // steps T + 1, .. apply the pending gradients in order
    const std::int64_t pending = pending_gradients(steps);
    for (std::int64_t i = 0; i < pending; ++i) {
      counts.add(pending - 1);
    }
  }
  return counts;
}

double pipeline_period(double compute_s, double exchange_s, std::int64_t width,
                       double compute_slowdown) {
  if (width == 1) {
    return compute_s + exchange_s;
  }
  return std::max(exchange_s, compute_s + exchange_s * (1 - 1 / compute_slowdown));
}

} // namespace stepsim::programs
