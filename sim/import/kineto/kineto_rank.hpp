#pragma once
// Reduces one profiler file to what the trace needs: a sample per step, and the steps to use
// (IO 4.2, 4.5 rule 5; INP 1.3). Steps are removed in this order:
//   - steps without device work;
//   - the first `skip_steps` steps, but at least one step stays;
//   - the first of the remaining steps, while its device time exceeds the median of the later ones
//     by more than a fifth, but at least two steps stay;
//   - steps that are not in the largest group with the same layers (of equal groups, the first).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_idle.hpp"
#include "import/kineto/kineto_layers.hpp"
#include "import/kineto/kineto_sharding.hpp"

namespace stepsim::io {

// One file: all its steps, and which of them are used.
struct KinetoRank {
  std::string file;
  std::optional<std::string> device;
  std::optional<std::int64_t> world_size;
  std::optional<std::int64_t> rank;
  bool record_shapes = false; // whether shapes were recorded, by the file's own word
  std::vector<std::string> step_names;
  std::vector<StepSample> steps;
  std::vector<std::size_t> used; // ascending indices into `steps`, at least one
  // Share of device time launched outside all steps or by an unknown launch.
  double unattributed_fraction{};
  bool forward_only = false;          // the file has no backward nodes
  std::vector<IdleTime> idle;         // [step]
  std::vector<CollectiveCall> calls;  // all calls of the file, in order of start
  std::optional<ShardedStep> sharded; // from the last used step
  std::vector<std::string> warnings;

  [[nodiscard]] const StepSample& first() const { return steps[used.front()]; }
};

// Changes `recording`: operators that only enclose a part of the program become annotations. Throws
// InputError for no device work (in the file or in any step), no step, no forward operators, or
// backward nodes most of which match no forward operator, and UsageError for a wrong regular
// expression.
[[nodiscard]] KinetoRank reduce_rank(KinetoRecording& recording,
                                     const std::optional<std::string>& step_annotation,
                                     std::int64_t skip_steps);

// Whether both have the same operators with the same numbers of gradients.
[[nodiscard]] bool same_layers(const StepSample& a, const StepSample& b);

} // namespace stepsim::io
