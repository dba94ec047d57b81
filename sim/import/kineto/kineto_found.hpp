#pragma once
// The sources of gradient sizes that find_sizes asks one after the other (INP 1.4): each gives the
// elements of every gradient of a step in ready order, or nothing.
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_sizes.hpp"

namespace stepsim::io {

// What one source says; gradients in ready order.
struct Found {
  std::vector<GradientSize> sizes;
  std::string words;        // "AccumulateGrad shapes"
  std::string name;         // "recorded shapes", for messages
  bool must_fit = false;    // a difference to the buckets is an error
  bool is_estimate = false; // spread; `words` says how far off it may be
};

// Elements of all measured buckets, and whether every one of them has a size.
[[nodiscard]] std::int64_t bucket_elements(const StepSample& step);
[[nodiscard]] bool buckets_have_sizes(const StepSample& step);

[[nodiscard]] std::vector<std::optional<std::int64_t>>
elements_of(const std::vector<GradientSize>& sizes);

// A table or an execution trace that the user gave. Throw InputError, naming that file, where the
// number of gradients differs.
[[nodiscard]] std::optional<Found> from_table(const StepSample& step, const SizeSources& sources);
[[nodiscard]] std::optional<Found> from_execution_trace(const StepSample& step,
                                                        const SizeSources& sources);

// Recorded inputs of the gradient nodes, and recorded parameters of the forward operators of layers
// that have as many parameters as gradients. Some sizes may be missing.
[[nodiscard]] std::optional<Found> from_gradient_shapes(const StepSample& step);
[[nodiscard]] std::optional<Found> from_forward_shapes(const StepSample& step);

// The model table that is named; InputError, naming `file`, where it does not fit.
[[nodiscard]] std::optional<Found>
from_named_model(const StepSample& step, const SizeSources& sources, const std::string& file);
// The one table that fits layers and buckets; `notes` say why a table that seemed to fit does not.
[[nodiscard]] std::optional<Found> from_fitting_model(const StepSample& step,
                                                      std::span<const train::ModelTable> tables,
                                                      std::vector<std::string>& notes);

// Totals spread over gradients: of each bucket over its candidates, of the model over all.
[[nodiscard]] std::optional<Found> from_buckets(const StepSample& step);
[[nodiscard]] Found from_total(const StepSample& step, std::int64_t total);

} // namespace stepsim::io
