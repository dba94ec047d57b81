#pragma once
// Training steps of a profiler recording (IO 4.2): half-open intervals [begin, end) of the host's
// time, in order of start; `thread` is the one that runs the forward pass.
//   with a regular expression   the annotations that match it, the innermost of nested ones
//   without                     the ProfilerStep#N annotations; without any of them the stretches
//                               between the ends of two successive Optimizer.step# annotations
// Where a job updates its weights once in several ProfilerStep#N, those up to the update are one
// step, and those behind the last update are left out (INP 1.3, rule 8).
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_events.hpp"

namespace stepsim::io {

struct KinetoStep {
  std::string name;
  Nanoseconds begin{};
  Nanoseconds end{};
  std::int32_t thread{};
};

// InputError if no step is found (names annotations that were seen), UsageError for a wrong
// regular expression.
[[nodiscard]] std::vector<KinetoStep> find_steps(const KinetoRecording& recording,
                                                 const std::optional<std::string>& annotation);

// The step that contains a moment; -1 if none. Of steps that overlap only the last to begin counts.
[[nodiscard]] std::int32_t step_at(std::span<const KinetoStep> steps, Nanoseconds moment);

} // namespace stepsim::io
