#pragma once
// Sizes of gradients from tables of known models (IO 4.5, rules 7 and 8).
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_layers.hpp"
#include "train/workload/model_table.hpp"

namespace stepsim::io {

struct TableTensor {
  std::int64_t elements{};
  std::string name; // "layer1.0.conv1.weight"
  std::vector<std::int64_t> shape;
};

struct TableFit {
  std::vector<TableTensor> sizes; // one per gradient in ready order; empty if it does not fit
  std::string difference;         // why not
};

// One layer of the table per layer with gradients, in the order in which they run, with as many
// tensors as gradients.
[[nodiscard]] TableFit fit_table(const StepSample& step, const train::ModelTable& table);

// The tensors of each layer of a forward-only trace, from the table by kind of operator
// (convolution, linear, normalization) in order; gradient-ready order inside a layer. Throws
// InputError (naming `file`) where operators and layers of the table differ.
[[nodiscard]] std::vector<std::vector<TableTensor>>
sizes_by_kind(const StepSample& step, const train::ModelTable& table, const std::string& file);

// The table with this name; UsageError with near-misses.
[[nodiscard]] const train::ModelTable& table_named(std::span<const train::ModelTable> tables,
                                                   const std::string& name);

} // namespace stepsim::io
