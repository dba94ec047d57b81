#pragma once
// Reads PyTorch execution traces (IO 5, INP 1.5): the operators of a job without times, from which
// the gradients of one iteration follow in the order in which they become ready. Schemas 1.0.1 to
// 1.1.x differ in the place of the input shapes, and in whether these are lists or lists as text.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "import/kineto/kineto_events.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

struct ExecutionTrace {
  std::string file; // path or "<stdin>", for error messages
  layers::SourceFile source;
  // [iteration] inputs of the nodes torch::autograd::AccumulateGrad in the order of their ids,
  // separated by the weight updates. `elements` 0 = the gradient was not defined.
  std::vector<std::vector<KinetoTensor>> iterations; // at least one, none is empty

  // The gradients of one iteration: the first iteration if there are several and all are equal;
  // else, if the number of gradient nodes of a step is known and the list of all gradients consists
  // of equal parts of this length, one part; else all gradients.
  [[nodiscard]] std::vector<KinetoTensor> one_iteration(std::optional<std::size_t> nodes) const;
};

// Throws InputError if the file cannot be read, has more than `max_bytes` bytes after inflation, is
// not JSON, has no `nodes` or no gradient nodes, or has a schema of another major version. A pipe
// is held in memory as a whole, up to kMostTextBytes.
[[nodiscard]] ExecutionTrace read_execution_trace(const std::string& path, std::uint64_t max_bytes);

// The gradients of one iteration as a trace without times, one layer per gradient: `gradient_k` is
// the k-th one to become ready. Undefined gradients are left out with a warning. Throws InputError
// as read_execution_trace() does, and if no gradient is defined.
[[nodiscard]] layers::Trace trace_of_sizes(const std::string& path, const ImportOptions& options);

} // namespace stepsim::io
