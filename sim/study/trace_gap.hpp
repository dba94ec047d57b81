#pragma once
// What a recorded step holds that the layer times of its trace do not, and how it is carried into a
// scenario. The device's time of a step (layers::MeasuredStep) is
//
//   step = computing + exposed exchange + other collectives + input + host + other waits
//
// of which a scenario with the trace has the computing of its layers and an exchange of its own.
// All but exchanges is carried as measured: layer times are stretched by host, other collectives
// and other waits, and input is read before each step. Of these, other collectives alone depend on
// the number of GPUs (a warning of the study says so).

#include "layers/trace.hpp"

namespace stepsim::study {

// Means over steps and ranks, s.
struct DeviceTimes {
  std::int64_t steps{};
  double step_s{}, compute_s{}, exchange_s{}, other_collectives_s{}, input_s{}, host_s{}, idle_s{};
};

// One step of the job as each recorded rank measured it.
using JobStep = std::vector<layers::MeasuredStep>;

// The steps that count and whose time on the device is known, of all ranks that any step has: a
// rank's k-th step is the k-th of the others. Empty if the trace was not recorded with them.
[[nodiscard]] std::vector<JobStep> timed_steps(const layers::Trace& trace);
[[nodiscard]] DeviceTimes device_times(std::span<const JobStep> steps);

// What is carried: the factor on the times of layers, update and framework, and the time of input
// of a micro-step that nothing hides, s.
struct Carried {
  double stretch = 1;
  double input_s{};
};
[[nodiscard]] Carried carried_of(const layers::Trace& trace, const DeviceTimes& times);

// The trace with kernel times, and with those of `carried`; provenance and sizes stay.
[[nodiscard]] layers::Trace with_kernel_times(layers::Trace trace);
[[nodiscard]] layers::Trace with_carried(layers::Trace trace, const Carried& carried);

struct GapPart {
  std::string_view key;   // "host"
  std::string_view words; // "host: kernels launched late"
  double seconds{};
};
// What lies between the measured step and that of the trace's kernels over ideal links: the sum of
// the parts. Waiting for other ranks is known where files of several ranks were read.
struct TraceGap {
  DeviceTimes times;
  double ideal_s{};           // step of the kernels over ideal links
  std::vector<GapPart> parts; // the last one is the rest
  [[nodiscard]] double rest_s() const { return parts.back().seconds; }
};
// `trace` has kernel times; `exposed_s`: exposed communication of the ideal step.
[[nodiscard]] TraceGap gap_of(const layers::Trace& trace, const DeviceTimes& times, double ideal_s,
                              double exposed_s);

} // namespace stepsim::study
