#pragma once
// PyTorch execution traces (IO 5, INP 1.5): the operators of a job without their times, from which
// the gradients of one iteration are read in the order in which they became ready. Schemas 1.0.1 to
// 1.1.x differ in where the shapes of inputs stand and whether they are lists or texts of lists.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "files/import_source.hpp"
#include "import/kineto/kineto_events.hpp"

namespace stepsim::io {

struct ExecutionTrace {
  std::string file; // for messages
  train::SourceFile source;
  // The inputs of the nodes torch::autograd::AccumulateGrad in the order of their ids, cut into
  // iterations at the updates of the weights; `elements` 0 = the gradient was not defined.
  std::vector<std::vector<KinetoTensor>> iterations; // at least one, none is empty

  // The gradients of one iteration: those of the first if all are equal, else, if the number of
  // gradient nodes of a step is known and divides the list into equal parts, one part, else all.
  [[nodiscard]] std::vector<KinetoTensor> one_iteration(std::optional<std::size_t> nodes) const;
};

// Throws InputError: no JSON, no `nodes`, a schema of another major version, no gradient nodes.
[[nodiscard]] ExecutionTrace read_execution_trace(const std::string& path, std::uint64_t max_bytes);

// The gradients of one iteration as a trace without times, one layer per gradient: the k-th one
// that becomes ready is `gradient_k`. Gradients that are not defined are left out with a warning.
[[nodiscard]] train::Trace trace_of_sizes(const std::string& path, const ImportOptions& options);

} // namespace stepsim::io
