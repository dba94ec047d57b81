#pragma once
// The collectives of a recording, one value per call (IO 4.5, rule 6; INP 1.2). A call is a
// `record_param_comms` operator, which has the operation and the sizes since PyTorch 2.2, with the
// annotation `nccl:NAME` inside, whose input has the size if shapes were recorded; or it is such an
// annotation alone. Its kernels are those launched during the call or, if there are none, those
// with the external id of the operator.

#include "base/shared_value.hpp"
#include "import/kineto/kineto_attribution.hpp"

namespace stepsim::io {

using SharedText = base::SharedValue<std::string>; // thousands of samples have the same few

struct CollectiveCall {
  SharedText op;                  // in stepsim's words: "allreduce", "allgather", ...
  SharedText dtype;               // as recorded, empty = unknown
  std::int64_t elements = -1;     // elements of this rank's input; -1 = unknown
  std::int64_t out_elements = -1; // elements of this rank's output; -1 = unknown
  std::int64_t group_size = -1;   // ranks that take part; -1 = unknown
  SharedText group;               // name of the process group, empty = unknown
  Nanoseconds begin{};            // start of the call on the host
  std::int32_t thread{};          // thread of the host
  std::int32_t top = -1;          // top-level operator that contains the call; -1 = none
  std::int32_t step = -1;         // step that contains the start of the call; -1 = none
  std::int64_t order{};           // order of recording, for calls that start together
  std::int32_t kernels = 0;       // number of the call's kernels
  // Start of the first kernel, end of the last one, sum of their durations; 0 without kernels.
  Nanoseconds kernel_begin{}, kernel_end{}, kernel_time{};
};

// In order of start. Calls without data (waits, barriers, set-up), and those whose operation
// neither the call nor a kernel tells, are left out.
[[nodiscard]] std::vector<CollectiveCall> collective_calls(const KinetoRecording& recording,
                                                           std::span<const KinetoStep> steps,
                                                           const Attribution& attribution);

// Whether the call is the all-reduce of a bucket: launched by a gradient's node, or inside a
// compiled graph, which carries the gradients of the graph.
[[nodiscard]] bool carries_bucket(const KinetoRecording& recording, const Attribution& attribution,
                                  const CollectiveCall& call);

// The operation in stepsim's words: "_allgather_base", "all_gather_into_tensor" -> "allgather"; an
// unknown name is returned as it is.
[[nodiscard]] std::string operation_word(std::string_view recorded);

} // namespace stepsim::io
