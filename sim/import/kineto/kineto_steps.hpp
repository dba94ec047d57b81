#pragma once
// The training steps of a profiler recording (IO 4.2): half-open intervals [begin, end) of host
// time, in the order of their begin; `thread` is the thread of the forward pass.
//   with a regular expression   the annotations of which some part matches it, the innermost of
//                               nested ones
//   without                     the ProfilerStep#N annotations; if there are none, the intervals
//                               between the ends of successive Optimizer.step# annotations
// If a job updates its weights once in several ProfilerStep#N, all of them up to the update are one
// step, and those after the last update are left out (INP 1.3, rule 8).
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

// Throws InputError if no step is found, with the annotations of the file, and UsageError for a
// wrong regular expression.
[[nodiscard]] std::vector<KinetoStep> find_steps(const KinetoRecording& recording,
                                                 const std::optional<std::string>& annotation);

// The index of the last step that begins at or before `moment`; -1 if there is none, or if that
// step has ended by then, even if an earlier step has not.
[[nodiscard]] std::int32_t step_at(std::span<const KinetoStep> steps, Nanoseconds moment);

} // namespace stepsim::io
