#pragma once
// The steps of a recording, one sample each. A recording whose events are in a file is looked at in
// windows of some steps, so that memory does not grow with the number of steps:
//     steps    | 0 | 1 |  | 2 | 3 |  | 4 |
//     windows  ....0......|....1.....|.2...
// An event of the host belongs to every window that it reaches into, work of the device to that of
// its launch. Samples are those of the whole recording.
#include <optional>
#include <string>
#include <vector>

#include "import/kineto/kineto_idle.hpp"
#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

struct SampledSteps {
  std::vector<KinetoStep> steps;
  std::vector<StepSample> samples;   // by step
  std::vector<IdleTime> idle;        // by step
  std::vector<CollectiveCall> calls; // of the whole recording, by start
  Nanoseconds device_time{};         // of all work of the device
  Nanoseconds outside_steps{};       // of that launched outside the steps
};

class KinetoWindows {
public:
  explicit KinetoWindows(KinetoRecording& recording) : recording_(recording) {}

  // Throws InputError: no device work, no step; UsageError for a wrong regular expression.
  // Operators that are only ranges become annotations.
  [[nodiscard]] SampledSteps sample(const std::optional<std::string>& step_annotation);
  // Brings the events around a step into the recording. After `sample`.
  void load(std::size_t step);

private:
  struct Range {
    std::size_t first_step{}, last_step{}; // half-open
    Nanoseconds begin{}, end{};            // of what belongs to it on the host
  };
  struct Window {
    Range range;
    KinetoEventFile events{};
  };
  void make_windows(const std::vector<KinetoStep>& steps);
  void fill_windows();
  void load(Window& window);
  void sample_into(SampledSteps& result, const Range& range);

  KinetoRecording& recording_;
  std::vector<Operator> operators_; // of the recording, until they are attributed
  std::vector<Window> windows_;     // none where all events are in memory
};

} // namespace stepsim::io
