#pragma once
// One profiler file reduced to what the trace needs: a sample per step and the choice of steps
// (IO 4.2, 4.5 rule 5; INP 1.3). Used are the steps with device work, less the first `skip_steps`
// of them (at least one stays) and the following ones whose device time exceeds the median of the
// rest by more than a fifth (at least two stay), and of these the largest group with the same
// layers.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_idle.hpp"
#include "import/kineto/kineto_layers.hpp"
#include "import/kineto/kineto_sharding.hpp"

namespace stepsim::io {

// One file: all its steps, and which of them count.
struct KinetoRank {
  std::string file;
  std::optional<std::string> device;
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> rank;
  bool record_shapes = false; // what the file says of its own recording
  std::vector<std::string> step_names;
  std::vector<StepSample> steps;
  std::vector<std::size_t> used;      // ascending positions in steps, at least one
  double unattributed_fraction{};     // of the device time: launched outside the steps, or unknown
  bool forward_only = false;          // no backward nodes
  std::vector<IdleTime> idle;         // by step
  std::vector<CollectiveCall> calls;  // all of the file, by start
  std::optional<ShardedStep> sharded; // of the last used step
  std::vector<std::string> warnings;

  [[nodiscard]] const StepSample& first() const { return steps[used.front()]; }
};

// Throws InputError: no device work (in the file or in any step), no step, no forward operators,
// backward nodes of which most match no forward operator; UsageError for a wrong regular
// expression. Operators of `recording` that are only ranges become annotations.
[[nodiscard]] KinetoRank reduce_rank(KinetoRecording& recording,
                                     const std::optional<std::string>& step_annotation,
                                     std::int64_t skip_steps);

// Same operators with the same numbers of gradients.
[[nodiscard]] bool same_layers(const StepSample& a, const StepSample& b);

} // namespace stepsim::io
