#include "study/trace_study.hpp"

namespace stepsim::study {

namespace {

double micro_steps(const layers::Trace& trace) {
  return static_cast<double>(trace.accumulation.value_or(1));
}

// What a workload makes of the trace: the layers of all micro-steps, and the update.
double workload_s(const layers::Trace& trace) {
  double layers = 0;
  for (const layers::Layer& layer : trace.layers) {
    layers += layer.forward.value_or(Seconds{}).value + layer.backward.value_or(Seconds{}).value;
  }
  return layers * micro_steps(trace) + trace.update.value + trace.framework.value;
}

layers::Trace stretched(layers::Trace trace, double factor) {
  const auto stretch = [factor](Seconds& time) { time = time * factor; };
  for (layers::Layer& layer : trace.layers) {
    for (std::optional<Seconds>* time : {&layer.forward, &layer.backward}) {
      if (*time) {
        stretch(**time);
      }
    }
  }
  for (Seconds* time : {&trace.update, &trace.input, &trace.other, &trace.framework}) {
    stretch(*time);
  }
  trace.time_scale *= factor;
  trace.time_basis = trace.time_scale == 1 ? "kernel" : "wall";
  if (trace.time_basis == "wall") {
    leave_out_advice(trace.warnings);
  }
  return trace;
}

// The part of the time of these calls that ranks wait for the last one to enter.
template <class Calls> double waiting_share(const Calls& calls) {
  double wait = 0;
  double transfer = 0;
  for (const auto& call : calls) {
    if (call.transfer.median && !call.transfer.wait.empty()) {
      transfer += call.transfer.median->value;
      for (const Seconds each : call.transfer.wait) {
        wait += each.value / static_cast<double>(call.transfer.wait.size());
      }
    }
  }
  return wait > 0 ? wait / (wait + transfer) : 0;
}

// The step that the user measured without the profiler, s; 0 where there is none.
double measured_step_s(const layers::Trace& trace) {
  if (trace.source) {
    for (const auto& [key, value] : trace.source->options) {
      if (key == "measured_step_s") {
        return std::strtod(value.c_str(), nullptr);
      }
    }
  }
  return 0;
}

// A profiler delays launches: what it added is taken from the time of the host first.
void shorten_to(double step_s, layers::MeasuredStep& step) {
  double more = step.step.value - step_s;
  for (Seconds* part : {&step.step_host, &step.step_idle, &step.step_input}) {
    const double taken = std::min(part->value, more);
    part->value -= taken;
    more -= taken;
  }
  const double factor = step_s / (step_s + more);
  for (Seconds* part : {&step.step_compute, &step.step_exchange, &step.step_other_collectives}) {
    *part = *part * factor;
  }
  step.step = Seconds{step_s};
}

// ": rank 3 is the last in 98 % of collectives"; nothing where no rank is so in most of them.
std::string late_rank(const std::optional<layers::Checks>& checks) {
  if (!checks || checks->last_rank.empty()) {
    return "";
  }
  const auto most = std::ranges::max_element(checks->last_rank);
  return *most > 0.5 ? ": rank " + std::to_string(most - checks->last_rank.begin()) +
                           " is the last in " + base::percent(*most, 2) + " of collectives"
                     : "";
}

} // namespace

bool has_forward_alone(const layers::Trace& trace) {
  return std::ranges::none_of(trace.steps, [](const layers::MeasuredStep& step) {
    return step.backward.value > 0 || step.gradient_nodes.value > 0;
  });
}

void leave_out_advice(std::vector<std::string>& warnings) {
  for (std::string& warning : warnings) {
    if (warning.starts_with("host-bound:")) {
      warning.resize(std::min(warning.size(), warning.find(';')));
    }
  }
}

std::vector<JobStep> timed_steps(const layers::Trace& trace) {
  std::vector<JobStep> steps;
  std::map<std::int64_t, std::size_t> next; // of each rank
  std::size_t ranks = 1;
  for (const layers::MeasuredStep& step : trace.steps) {
    const std::size_t position = next[step.rank.value_or(0)]++;
    steps.resize(std::max(steps.size(), position + 1));
    if (step.used && step.step.value > 0) {
      steps[position].push_back(step);
      ranks = std::max(ranks, steps[position].size());
    }
  }
  std::erase_if(steps, [=](const JobStep& step) { return step.size() < ranks; });
  if (const double measured_s = measured_step_s(trace); measured_s > 0 && !steps.empty()) {
    const double factor = measured_s / device_times(steps).step_s;
    for (JobStep& step : steps) {
      for (layers::MeasuredStep& rank : step) {
        shorten_to(rank.step.value * factor, rank);
      }
    }
  }
  return steps;
}

DeviceTimes device_times(std::span<const JobStep> steps) {
  const auto mean = [&](Seconds layers::MeasuredStep::*member) {
    double sum = 0;
    for (const JobStep& step : steps) {
      for (const layers::MeasuredStep& rank : step) {
        sum += (rank.*member).value;
      }
    }
    return sum / static_cast<double>(steps.size() * steps.front().size());
  };
  using Step = layers::MeasuredStep;
  return {.steps = std::ssize(steps),
          .step_s = mean(&Step::step),
          .compute_s = mean(&Step::step_compute),
          .exchange_s = mean(&Step::step_exchange),
          .other_collectives_s = mean(&Step::step_other_collectives),
          .input_s = mean(&Step::step_input),
          .host_s = mean(&Step::step_host),
          .idle_s = mean(&Step::step_idle)};
}

Carried carried_of(const layers::Trace& trace, const DeviceTimes& times) {
  const double computing = workload_s(trace);
  const double occupied = times.compute_s + times.other_collectives_s + times.host_s + times.idle_s;
  return {.stretch = computing > 0 ? occupied / computing : 1,
          .input_s = times.input_s / micro_steps(trace)};
}

layers::Trace with_kernel_times(layers::Trace trace) {
  if (const double scale = trace.time_scale; scale != 1) {
    trace = stretched(std::move(trace), 1 / scale);
    trace.time_scale = 1; // without what rounding leaves
    trace.time_basis = "kernel";
  }
  return trace;
}

layers::Trace with_carried(layers::Trace trace, const Carried& carried) {
  return stretched(std::move(trace), carried.stretch);
}

TraceGap gap_of(const layers::Trace& trace, const DeviceTimes& times, double ideal_s,
                double exposed_s) {
  const double in_exchanges = times.exchange_s * waiting_share(trace.buckets);
  const double in_others = times.other_collectives_s * waiting_share(trace.collectives);
  TraceGap gap{.times = times, .ideal_s = ideal_s};
  gap.parts = {
      {"host", "host: kernels launched late", times.host_s},
      {"input", "input that nothing hides", times.input_s},
      {"waiting", "waiting for other ranks" + late_rank(trace.checks), in_exchanges + in_others},
      {"exchange", "exchanges of gradients above ideal links",
       times.exchange_s - in_exchanges - exposed_s},
      {"other_collectives", "other collectives", times.other_collectives_s - in_others},
  };
  double told = ideal_s;
  for (const GapPart& part : gap.parts) {
    told += part.seconds;
  }
  gap.parts.push_back({"rest", "rest: other waits, kernels outside layers", times.step_s - told});
  return gap;
}

} // namespace stepsim::study
