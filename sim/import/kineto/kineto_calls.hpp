#pragma once
// The collectives of a recording, one value per call (IO 4.5, rule 6; INP 1.2). A call is a
// `record_param_comms` operator, which tells the operation and the sizes since PyTorch 2.2, with
// the annotation `nccl:NAME` inside it, whose input has the size if shapes were recorded; or such
// an annotation alone. Its kernels are those that were launched during the call; where none was,
// those with the operator's external id.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/kineto/kineto_attribution.hpp"

namespace stepsim::io {

struct CollectiveCall {
  std::string op;             // "allreduce", "allgather", ...: the words of this project
  std::string dtype;          // as recorded, empty = unknown
  std::int64_t elements = -1; // of the rank's input; -1 = unknown
  std::int64_t out_elements = -1;
  std::int64_t group_size = -1;
  std::string group;        // name of the process group, empty = unknown
  Nanoseconds begin{};      // of the call on the host
  std::int32_t thread{};    // of the host
  std::int32_t top = -1;    // top-level operator that contains the call
  std::int32_t step = -1;   // that contains the start of the call
  std::int64_t order{};     // of recording, among calls that start together
  std::int32_t kernels = 0; // and the times of the first start, of the last end, and their sum
  Nanoseconds kernel_begin{}, kernel_end{}, kernel_time{};
};

// In order of start. Calls that carry no data (waits, barriers, set-up) are left out.
[[nodiscard]] std::vector<CollectiveCall> collective_calls(const KinetoRecording& recording,
                                                           std::span<const KinetoStep> steps,
                                                           const Attribution& attribution);

// "_allgather_base", "all_gather_into_tensor" -> "allgather": the words of this project; a name
// that is not known stays.
[[nodiscard]] std::string operation_word(std::string_view recorded);

} // namespace stepsim::io
