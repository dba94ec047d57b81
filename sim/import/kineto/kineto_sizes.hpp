#pragma once
// Finds the sizes of gradients (INP 1.4). A profiler trace shows how many gradients each layer
// produced and the size of each bucket; the size of each gradient comes from the first of these
// sources that has an answer:
//   1. --sizes FILE
//   2. --pytorch-et FILE
//   3. recorded inputs of gradient nodes, if at most a tenth of the sizes stays unknown
//   4. recorded parameters of the forward operators, under the same condition
//   5. the model table that is named; it goes before source 4
//   6. the one model table that fits layers and buckets
//   7. measured buckets, whose elements are spread over their gradients (assumed)
//   8. --parameters N, spread over the backward pass (assumed); it replaces sources 6 and 7 if it
//      differs from the elements of the buckets by less than 1 %, and is an error if by more
// Sizes of sources 1 to 6 are checked against the measured buckets (kineto_buckets.hpp).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_buckets.hpp"
#include "import/sizes/size_files.hpp"

namespace stepsim::io {

struct SizeSources {
  std::optional<std::string> model; // name of one of the tables
  std::span<const layers::ModelTable> tables;
  const SizeTable* table = nullptr;
  bool table_in_ready_order = false;
  // [bucket] positions of its parameters in `table`; empty = unknown
  std::span<const std::vector<std::int64_t>> bucket_parameters{};
  const ExecutionTrace* execution_trace = nullptr;
  std::optional<std::int64_t> parameters; // sum over all gradients
  std::optional<std::string> dtype;       // used if nothing recorded gives a dtype
  bool record_shapes = false;             // the file says that shapes were recorded
};

struct GradientSizes {
  // One per gradient in ready order; an empty list: no source had an answer
  std::vector<GradientSize> sizes;
  std::vector<std::string> notes;
  std::string source;   // source, and what the sizes were checked against; "" if unknown
  std::string remedy;   // which option to give if sizes are unknown; else ""
  bool assumed = false; // the sizes are a total spread over gradients (sources 7 and 8)
};

// Throws InputError if a source that the user gave does not fit (naming the trace, `file`, or the
// file of the source), and UsageError if the name of the model is unknown.
[[nodiscard]] GradientSizes find_sizes(const StepSample& step, const SizeSources& sources,
                                       const std::string& file);

} // namespace stepsim::io
