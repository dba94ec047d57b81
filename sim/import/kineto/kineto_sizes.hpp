#pragma once
// Finds the measured bucket of every gradient (INP 1.4.1). A bucket is launched in the node of its
// last gradient, so its candidates are the gradients since the launch before. DDP has its own order
// of launches: a gradient may be ready early and wait for a later bucket. If the candidates sum up
// to more than the bucket, the fewest and latest of them that make up the difference are moved to
// the next bucket. If they sum up to less, gradients without a size fill the bucket, or DDP sent
// parameters that have no gradient in this step.
#include "base/collected.hpp"
#include "import/kineto/kineto_layers.hpp"
#include "import/sizes/size_files.hpp"
#include "layers/model_table.hpp"

namespace stepsim::io {

// What is known of the size of one gradient, and the measured bucket that carries it.
struct GradientSize {
  static constexpr std::int32_t kUnknown = -1; // it is not known in which bucket, or whether in any
  static constexpr std::int32_t kNever = -2;   // in no bucket: never reduced

  // Elements 0: sent, but of unknown size, which a note says; empty: unknown, or never sent. Its
  // bucket is told by `bucket`.
  layers::Tensor tensor{};
  std::int64_t extra_elements{}; // of its bucket beyond its gradients, at the last gradient of it
  std::int32_t bucket = kUnknown;
};

// What checking sizes against the measured buckets told.
struct Settled {
  std::vector<std::string> notes{};
  // Names the first bucket whose elements its gradients cannot make up: no choice of them has the
  // right sum, or extra elements remain. Empty if there is none; gradients that are moved to the
  // next bucket and filled-in sizes are no difference.
  std::string difference{};
};

// Sets the buckets of `sizes`, which has each gradient of the step in ready order; empty elements =
// unknown. If the step has no buckets, the bucket of every gradient stays kUnknown.
[[nodiscard]] Settled assign_buckets(const StepSample& step, std::vector<GradientSize>& sizes);

// [gradient in ready order] its bucket by the parameters that DDP's log lists, which are registered
// in the reverse order; empty if the log does not list as many.
[[nodiscard]] std::vector<std::int32_t> listed_buckets(const DdpLog& log, std::size_t gradients);

// Gives a step without all-reduces the buckets that DDP logged, of elements of the type `dtype`, or
// of four bytes if it is empty. Throws InputError if they are more than gradients.
void add_logged_buckets(const DdpLog& log, const std::string& dtype, StepSample& step);

// Finds sizes of gradients in tables of known models (IO 4.5, rules 7 and 8).
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
//   9. the units of a sharded job, whose elements are spread over the gradients of their layers
//      (assumed)
// Sizes of sources 1 to 6 are checked against the measured buckets (kineto_sizes.hpp).

// Returns the tables of known models. Most traces have sizes of their own, so that no table is read
// for them.
using ModelTables = std::function<std::span<const layers::ModelTable>()>;

struct SizeSources {
  std::optional<std::string> model; // name of one of the tables
  ModelTables tables;
  const SizeTable* table = nullptr;
  bool table_in_ready_order = false;
  const DdpLog* log = nullptr;
  std::span<const double> weights{}; // [gradient] size_weights() (kineto_found.hpp)
  const ExecutionTrace* execution_trace = nullptr;
  std::span<const layers::MeasuredUnit> units{}; // of a sharded job
  std::optional<std::int64_t> parameters;        // sum over all gradients
  std::optional<std::string> dtype;              // used if nothing recorded gives a dtype
  bool record_shapes = false;                    // the file says that shapes were recorded
};

struct GradientSizes {
  // One per gradient in ready order; an empty list: no source had an answer
  std::vector<GradientSize> sizes;
  std::vector<std::string> notes;
  std::string source;   // source, and what the sizes were checked against; "" if unknown
  std::string remedy;   // which option to give if sizes are unknown; else ""
  bool assumed = false; // the sizes are a total spread over gradients (sources 7 to 9)
};

// Throws InputError if a source that the user gave does not fit (naming the trace, `file`, or the
// file of the source), and UsageError if the name of the model is unknown.
[[nodiscard]] GradientSizes find_sizes(const StepSample& step, const SizeSources& sources,
                                       const std::string& file);

// The sources of gradient sizes that find_sizes() tries one after the other (INP 1.4). Each returns
// the elements of every gradient of a step in ready order, or nothing.

// The sizes that one source gives, one per gradient in ready order.
struct Found {
  std::vector<GradientSize> sizes;
  std::string words;        // the source in the result: "AccumulateGrad shapes"
  std::string name;         // the source in error messages: "recorded shapes"
  bool must_fit = false;    // a difference from the buckets is an error
  bool is_estimate = false; // spread from a total; `words` has the expected error
  std::string estimate{};   // what is assumed; "" = `words`
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
                                                      const ModelTables& tables,
                                                      std::vector<std::string>& notes);

// Estimates: from_buckets() spreads the elements of each bucket over its candidates, from_units()
// those of each unit over the gradients of its layers, if every gradient is in a unit, and
// from_total() spreads `total` elements over all gradients.
[[nodiscard]] std::optional<Found> from_buckets(const StepSample& step,
                                                std::span<const double> weights);
[[nodiscard]] std::optional<Found> from_units(const StepSample& step, const SizeSources& sources);
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

// Splits `total` over some members of a list by their weights, and calls `set(member, elements)`.
template <class Set>
void spread_over(std::int64_t total, std::span<const std::size_t> members,
                 std::span<const double> weights, const Set& set) {
  const std::vector<double> shares =
      base::collected<double>(members, [&](std::size_t member) { return weights[member]; });
  const std::vector<std::int64_t> parts = spread_elements(total, shares);
  for (std::size_t k = 0; k < members.size(); ++k) {
    set(members[k], parts[k]);
  }
}

} // namespace stepsim::io
