#pragma once
// One profiler file reduced to what the trace needs: a sample per step and the choice of steps
// (IO 4.2, 4.5 rule 5). Used are the steps with device work, less the first `skip_steps` of them
// (at least one stays), and of the rest the largest group with the same layers.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_layers.hpp"

namespace stepsim::io {

// One file: all its steps, and which of them count.
struct KinetoRank {
  std::string file;
  std::optional<std::string> device;
  std::optional<std::int64_t> world_size;
  std::vector<std::string> step_names;
  std::vector<StepSample> steps;
  std::vector<std::size_t> used;  // ascending positions in steps, at least one
  double unattributed_fraction{}; // of the device time: launched outside the steps, or unknown
  bool forward_only = false;      // no backward nodes
  std::vector<std::string> warnings;

  [[nodiscard]] const StepSample& first() const { return steps[used.front()]; }
};

// Throws InputError: no device work (in the file or in any step), no step, operators of backward
// without sequence numbers, no forward operators; UsageError for a wrong regular expression.
[[nodiscard]] KinetoRank reduce_rank(const KinetoRecording& recording,
                                     const std::optional<std::string>& step_annotation,
                                     std::int64_t skip_steps);

// Same operators with the same numbers of gradients.
[[nodiscard]] bool same_layers(const StepSample& a, const StepSample& b);

} // namespace stepsim::io
