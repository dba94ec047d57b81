#pragma once
// Where gradient sizes come from (IO 4.5, rules 7 and 8). A profiler trace shows which layer
// produced how many gradients and what the buckets sum to; the size of each gradient comes from
// the first of these sources that applies:
//   1. recorded input shapes that fit the buckets, 2. the model table that the user names,
//   3. the one model table that fits layers and buckets.
// Sizes must add up to every measured bucket exactly.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_layers.hpp"
#include "train/workload/model_table.hpp"

namespace stepsim::io {

struct GradientSize {
  std::int64_t elements{};
  std::int64_t bytes{};
  std::string dtype;                 // "float32"
  std::string name;                  // of the parameter; empty if unknown
  std::vector<std::int64_t> shape{}; // from a model table; else empty
};

struct SizeSources {
  std::optional<std::string> model; // by name, one of the tables
  std::span<const train::ModelTable> tables;
};

struct GradientSizes {
  std::vector<GradientSize> sizes; // one per gradient in ready order; empty: unknown
  std::vector<std::string> notes;
  std::string fit; // which table was found to fit, in words; "" = none was, or none was looked for
};

// Throws InputError (naming `file`) where the model that the user named does not fit, UsageError if
// its name is unknown. Where recorded shapes fit, the named model is not looked at.
[[nodiscard]] GradientSizes find_sizes(const StepSample& step, const SizeSources& sources,
                                       const std::string& file);

// The tensors of each layer of a forward-only trace, from the named table by kind of operator
// (convolution, linear, normalisation) in order; gradient-ready order inside a layer. Throws
// InputError where operators and layers of the table differ.
[[nodiscard]] std::vector<std::vector<GradientSize>>
sizes_by_kind(const StepSample& step, const train::ModelTable& table, const std::string& file);

// The table with this name; UsageError with near-misses.
[[nodiscard]] const train::ModelTable& table_named(std::span<const train::ModelTable> tables,
                                                   const std::string& name);

} // namespace stepsim::io
