#pragma once
// The sources of gradient sizes that find_sizes() tries one after the other (INP 1.4). Each returns
// the elements of every gradient of a step in ready order, or nothing.

#include "import/kineto/kineto_sizes.hpp"

namespace stepsim::io {

// The sizes that one source gives, one per gradient in ready order.
struct Found {
  std::vector<GradientSize> sizes;
  std::string words;        // the source in the result: "AccumulateGrad shapes"
  std::string name;         // the source in error messages: "recorded shapes"
  bool must_fit = false;    // a difference from the buckets is an error
  bool is_estimate = false; // spread from a total; `words` has the expected error
};

// The sum of the elements of all measured buckets with a size, and whether there are buckets and
// all of them have a size.
[[nodiscard]] std::int64_t bucket_elements(const StepSample& step);
[[nodiscard]] bool buckets_have_sizes(const StepSample& step);

// "measured", or "logged" where DDP's log gave the buckets.
[[nodiscard]] std::string_view bucket_word(const StepSample& step);

// From a table or an execution trace of the user. Both throw InputError that names the file if the
// number of gradients differs.
[[nodiscard]] std::optional<Found> from_table(const StepSample& step, const SizeSources& sources);
[[nodiscard]] std::optional<Found> from_execution_trace(const StepSample& step,
                                                        const SizeSources& sources);

// From the recorded inputs of the gradient nodes, and from the recorded parameters of the forward
// operators of layers that have as many parameters as gradients. Some sizes may be missing.
[[nodiscard]] std::optional<Found> from_gradient_shapes(const StepSample& step);
[[nodiscard]] std::optional<Found> from_forward_shapes(const StepSample& step);

// From the named model table. Throws InputError that names `file` if the table does not fit.
[[nodiscard]] std::optional<Found>
from_named_model(const StepSample& step, const SizeSources& sources, const std::string& file);
// From the table that fits layers and buckets. Of several that fit with the same sizes any serves;
// nothing if they differ, or if a bucket has no size. `notes` explain why a similar table does not
// fit.
[[nodiscard]] std::optional<Found> from_fitting_model(const StepSample& step,
                                                      std::span<const layers::ModelTable> tables,
                                                      std::vector<std::string>& notes);

// Estimates: from_buckets() spreads the elements of each bucket over its candidates, from_total()
// spreads `total` elements over all gradients.
[[nodiscard]] std::optional<Found> from_buckets(const StepSample& step,
                                                std::span<const double> weights);
[[nodiscard]] Found from_total(std::int64_t total, std::span<const double> weights);

// Spreading of a total size over gradients, if only the total is known (INP 1.4.3).
// [gradient] weight for spread_elements(): backward time of its layer in the trace / number of
// gradients of the layer, 0 for layers that normalize. Compared with the known sizes of a
// ResNet-50, about a fifth of the bytes are in the wrong tensor if buckets are known, and half
// otherwise.
[[nodiscard]] std::vector<double> size_weights(const StepSample& step,
                                               std::span<const layers::Layer> layers);

// Splits `total` into whole elements in proportion to the weights, with the exact sum: the largest
// remainders are rounded up, the first of equal ones. If all weights are 0, the parts are equal.
[[nodiscard]] std::vector<std::int64_t> spread_elements(std::int64_t total,
                                                        std::span<const double> weights);

} // namespace stepsim::io
