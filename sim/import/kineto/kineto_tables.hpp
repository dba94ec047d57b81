#pragma once
// Finds sizes of gradients in tables of known models (IO 4.5, rules 7 and 8).
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_buckets.hpp"
#include "layers/model_table.hpp"

namespace stepsim::io {

struct TableFit {
  std::vector<GradientSize> sizes; // [gradient in ready order]; empty if the table does not fit
  std::string difference;          // why it does not fit
};

// Fits one layer of the table to each layer with gradients, in execution order, with as many
// tensors as gradients.
[[nodiscard]] TableFit fit_table(const StepSample& step, const layers::ModelTable& table);

// The tensors of each layer of a forward-only trace, gradients in ready order: layers of the table
// are matched in order by their kind of operator (convolution, linear, normalization). Throws
// InputError that names `file` if operators and layers of the table differ.
[[nodiscard]] std::vector<std::vector<GradientSize>>
sizes_by_kind(const StepSample& step, const layers::ModelTable& table, const std::string& file);

// The table with this name. Throws UsageError with the nearest names if there is none.
[[nodiscard]] const layers::ModelTable& table_named(std::span<const layers::ModelTable> tables,
                                                    const std::string& name);

} // namespace stepsim::io
