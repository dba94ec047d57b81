#pragma once
// Where gradient sizes come from (INP 1.4). A profiler trace shows which layer produced how many
// gradients and what the buckets sum to; the size of each gradient comes from the first of these
// sources that has an answer:
//   1. --sizes FILE              2. --pytorch-et FILE            3. recorded inputs of gradient
//   nodes
//   4. recorded parameters of the forward operators              5. the model table that is named
//   6. the one model table that fits layers and buckets
//   7. measured buckets, whose elements are spread over their gradients (assumed)
//   8. --parameters N, spread over the backward pass (assumed)
// Sizes of 1 to 6 are checked against the measured buckets (kineto_buckets.hpp).
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_buckets.hpp"
#include "import/kineto/kineto_tables.hpp"
#include "import/sizes/execution_trace.hpp"
#include "import/sizes/size_table.hpp"

namespace stepsim::io {

struct GradientSize {
  std::optional<std::int64_t> elements;
  std::int64_t bytes{};              // of the elements
  std::int64_t extra_bytes{};        // that its bucket carries beside the gradients
  std::string dtype;                 // "float32"
  std::string name;                  // of the parameter; empty if unknown
  std::vector<std::int64_t> shape{}; // empty if unknown
  std::int32_t bucket = BucketMember::kUnknown;
};

struct SizeSources {
  std::optional<std::string> model; // by name, one of the tables
  std::span<const train::ModelTable> tables;
  const SizeTable* table = nullptr;
  bool table_in_ready_order = false;
  // By bucket, the positions of parameters in `table`; empty = unknown.
  std::span<const std::vector<std::int64_t>> bucket_parameters{};
  const ExecutionTrace* execution_trace = nullptr;
  std::optional<std::int64_t> parameters; // elements of all gradients
  std::optional<std::string> dtype;       // where nothing recorded says
  bool record_shapes = false;             // the file says that shapes were recorded
};

struct GradientSizes {
  std::vector<GradientSize> sizes; // one per gradient in ready order; empty: unknown
  std::vector<std::string> notes;
  std::string source;   // where they come from and what they were checked against; "" if unknown
  std::string remedy;   // what to give where they are unknown
  bool assumed = false; // spread over gradients
};

// Throws InputError where a source that the user gave does not fit (naming the trace, `file`, or
// the source's own file), UsageError if the model's name is unknown.
[[nodiscard]] GradientSizes find_sizes(const StepSample& step, const SizeSources& sources,
                                       const std::string& file);

} // namespace stepsim::io
