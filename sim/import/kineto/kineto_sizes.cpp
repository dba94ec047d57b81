// Each source is one function that gives the elements of every gradient, or none. What follows is
// common to all: buckets get their members, element types become bytes.
#include "import/kineto/kineto_sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string_view>

#include "base/error.hpp"
#include "files/import_source.hpp"
#include "import/kineto/kineto_spread.hpp"

namespace stepsim::io {

namespace {

constexpr DtypeWord kFloat32{"float32", 4};

// What one source says; gradients in ready order.
struct Found {
  std::vector<GradientSize> sizes;
  std::string words;        // "AccumulateGrad shapes"
  std::string name;         // "recorded shapes", for messages
  bool must_fit = false;    // a difference to the buckets is an error
  bool is_estimate = false; // spread; `words` says how far off it may be
};

std::int64_t bucket_elements(const StepSample& step) {
  std::int64_t sum = 0;
  for (const CollectiveSample& bucket : step.buckets) {
    sum += std::max<std::int64_t>(bucket.call.elements, 0);
  }
  return sum;
}

bool buckets_have_sizes(const StepSample& step) {
  return !step.buckets.empty() && std::ranges::all_of(step.buckets, [](const CollectiveSample& b) {
    return b.call.elements >= 0;
  });
}

// Source 1: registration order is the reverse of the order in which gradients become ready.
std::optional<Found> from_table(const StepSample& step, const SizeSources& sources) {
  if (sources.table == nullptr) {
    return std::nullopt;
  }
  const std::vector<NamedSize>& rows = sources.table->rows;
  if (rows.size() != step.gradients.size()) {
    throw InputError(sources.table->file, "",
                     fmt::format("{} tensors, but a step of the trace has {} gradients",
                                 rows.size(), step.gradients.size()));
  }
  Found found{{}, "--sizes", sources.table->file, true};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NamedSize& row = rows[sources.table_in_ready_order ? i : rows.size() - 1 - i];
    GradientSize& size = found.sizes.emplace_back();
    size.elements = row.elements;
    size.dtype = row.dtype;
    size.name = row.name;
  }
  return found;
}

void set_tensor(GradientSize& size, const KinetoTensor& tensor) {
  if (tensor.elements > 0) {
    size.elements = tensor.elements;
    size.dtype = dtype_of_pytorch(tensor.dtype).value_or(DtypeWord{}).word;
    size.shape = tensor.shape;
  }
}

// Source 2.
std::optional<Found> from_execution_trace(const StepSample& step, const SizeSources& sources) {
  if (sources.execution_trace == nullptr) {
    return std::nullopt;
  }
  const std::size_t all = step.gradients.size() + static_cast<std::size_t>(step.undefined);
  std::vector<KinetoTensor> tensors = sources.execution_trace->one_iteration(all);
  if (tensors.size() != step.gradients.size()) {
    std::erase_if(tensors, [](const KinetoTensor& tensor) { return tensor.elements == 0; });
  }
  if (tensors.size() != step.gradients.size()) {
    throw InputError(sources.execution_trace->file, "",
                     fmt::format("{} gradients in an iteration, but a step of the trace has {}",
                                 tensors.size(), step.gradients.size()));
  }
  Found found{{}, "--pytorch-et", sources.execution_trace->file, true};
  for (const KinetoTensor& tensor : tensors) {
    set_tensor(found.sizes.emplace_back(), tensor);
  }
  return found;
}

// Source 3. Sizes that are missing may follow from the buckets.
std::optional<Found> from_gradient_shapes(const StepSample& step) {
  Found found{{}, "AccumulateGrad shapes", "recorded shapes"};
  for (const GradientSample& gradient : step.gradients) {
    GradientSize& size = found.sizes.emplace_back();
    if (gradient.shape) {
      set_tensor(size, *gradient.shape);
    }
  }
  const bool any =
      std::ranges::any_of(found.sizes, [](const auto& s) { return s.elements.has_value(); });
  return any ? std::optional(std::move(found)) : std::nullopt;
}

// Source 4, layer by layer: where a layer has as many parameters as gradients, in reverse order.
std::optional<Found> from_forward_shapes(const StepSample& step) {
  Found found{{}, "shapes of the forward operators' parameters", "recorded shapes"};
  std::vector<std::size_t> used(step.layers.size());
  bool any = false;
  for (const GradientSample& gradient : step.gradients) {
    const auto l = static_cast<std::size_t>(gradient.layer);
    const LayerSample& layer = step.layers[l];
    GradientSize& size = found.sizes.emplace_back();
    if (std::ssize(layer.parameters) == layer.gradients && used[l] < layer.parameters.size()) {
      set_tensor(size, layer.parameters[layer.parameters.size() - 1 - used[l]++]);
      any = true;
    }
  }
  return any ? std::optional(std::move(found)) : std::nullopt;
}

Found of_table(std::vector<TableTensor> tensors, const std::string& words,
               const std::string& name) {
  Found found{{}, words, name, true};
  for (TableTensor& tensor : tensors) {
    GradientSize& size = found.sizes.emplace_back();
    size.elements = tensor.elements;
    size.name = std::move(tensor.name);
    size.shape = std::move(tensor.shape);
  }
  return found;
}

// Source 5.
std::optional<Found> from_named_model(const StepSample& step, const SizeSources& sources,
                                      const std::string& file) {
  if (!sources.model) {
    return std::nullopt;
  }
  TableFit fit = fit_table(step, table_named(sources.tables, *sources.model));
  if (fit.sizes.empty()) {
    throw InputError(file, "", "model " + *sources.model + " does not fit: " + fit.difference);
  }
  return of_table(std::move(fit.sizes), "model table " + *sources.model, "model " + *sources.model);
}

std::vector<std::optional<std::int64_t>> elements_of(const std::vector<GradientSize>& sizes) {
  std::vector<std::optional<std::int64_t>> elements;
  for (const GradientSize& size : sizes) {
    elements.push_back(size.elements);
  }
  return elements;
}

// Source 6. Two tables that fit with the same sizes are as good as one; with different sizes
// neither is used.
std::optional<Found> from_fitting_model(const StepSample& step,
                                        std::span<const train::ModelTable> tables,
                                        std::vector<std::string>& notes) {
  if (!buckets_have_sizes(step)) {
    return std::nullopt;
  }
  std::optional<Found> found;
  std::string names;
  for (const train::ModelTable& table : tables) {
    if (table.elements() != bucket_elements(step)) {
      continue;
    }
    TableFit fit = fit_table(step, table);
    if (fit.sizes.empty()) {
      continue;
    }
    Found next = of_table(std::move(fit.sizes), "", "model " + table.name);
    const std::string difference = assign_buckets(step, elements_of(next.sizes)).difference;
    if (!difference.empty()) {
      notes.push_back(difference + next.name + "; the table is not used");
      continue;
    }
    if (found && elements_of(found->sizes) != elements_of(next.sizes)) {
      notes.push_back("models " + names + " and " + table.name +
                      " both fit with different sizes: choose with --model");
      return std::nullopt;
    }
    names += (names.empty() ? "" : ", ") + table.name;
    found = std::move(next);
  }
  if (found) {
    found->words = "model table " + names;
  }
  return found;
}

// Source 7: the candidates of a bucket share its elements.
std::optional<Found> from_buckets(const StepSample& step) {
  if (!buckets_have_sizes(step)) {
    return std::nullopt;
  }
  Found found;
  found.words = "measured buckets, spread within measured buckets: about 1 %";
  found.is_estimate = true;
  found.sizes.resize(step.gradients.size());
  const std::vector<double> weights = size_weights(step);
  for (std::size_t b = 0; b < step.buckets.size(); ++b) {
    std::vector<std::size_t> members;
    std::vector<double> shares;
    for (std::size_t i = 0; i < step.gradients.size(); ++i) {
      if (step.gradients[i].bucket == static_cast<std::int32_t>(b)) {
        members.push_back(i);
        shares.push_back(weights[i]);
      }
    }
    const auto parts = spread_elements(step.buckets[b].call.elements, shares);
    for (std::size_t k = 0; k < members.size(); ++k) {
      found.sizes[members[k]].elements = parts[k];
    }
  }
  for (std::size_t i = 0; i < step.gradients.size(); ++i) {
    const std::int32_t bucket = step.gradients[i].bucket;
    found.sizes[i].bucket = bucket >= 0 ? bucket : BucketMember::kNever;
  }
  return found;
}

// Source 8.
Found from_total(const StepSample& step, std::int64_t total) {
  Found found;
  found.words =
      fmt::format("--parameters {}, spread over the backward pass: up to about 10 %", total);
  found.is_estimate = true;
  for (const std::int64_t part : spread_elements(total, size_weights(step))) {
    found.sizes.emplace_back().elements = part;
  }
  return found;
}

// The total that the user gives against one that was found: far apart, one of them is wrong.
bool agrees(std::int64_t total, std::int64_t found, const std::string& file,
            const std::string& words) {
  if (std::abs(static_cast<double>(total - found)) >= 0.01 * static_cast<double>(found)) {
    throw InputError(
        file, "",
        fmt::format("--parameters {} differs by 1 % or more from the {} elements of {}", total,
                    found, words));
  }
  return total == found;
}

// Of the given sources the first with an answer.
std::optional<Found> first_answer(const StepSample& step, const SizeSources& sources,
                                  const std::string& file, std::vector<std::string>& notes) {
  if (auto found = from_table(step, sources)) {
    return found;
  }
  if (auto found = from_execution_trace(step, sources)) {
    return found;
  }
  // Too many gradients without a size: another source may know them.
  const auto enough = [&](const Found& found) {
    const BucketMembers settled = assign_buckets(step, elements_of(found.sizes));
    const auto missing = std::ranges::count_if(settled.members, [](const BucketMember& member) {
      return !member.elements && member.bucket != BucketMember::kNever;
    });
    return 10 * missing <= std::ssize(step.gradients);
  };
  if (auto found = from_gradient_shapes(step); found && enough(*found)) {
    return found;
  }
  if (auto found = from_named_model(step, sources, file)) {
    return found;
  }
  if (auto found = from_forward_shapes(step); found && enough(*found)) {
    return found;
  }
  std::optional<Found> found = from_fitting_model(step, sources.tables, notes);
  if (!found) {
    found = from_buckets(step);
  }
  if (sources.parameters &&
      (!found || !agrees(*sources.parameters, bucket_elements(step), file,
                         found->is_estimate ? "the measured buckets" : found->words))) {
    return from_total(step, *sources.parameters);
  }
  return found;
}

// Bytes by the type that travels: the bucket's, else that of the gradient.
void add_bytes(const StepSample& step, const SizeSources& sources, GradientSizes& result) {
  const auto known_dtype = [&](std::int32_t bucket) -> std::optional<DtypeWord> {
    return bucket < 0 ? std::nullopt
                      : dtype_of_pytorch(step.buckets[static_cast<std::size_t>(bucket)].call.dtype);
  };
  std::optional<DtypeWord> common; // of any collective with gradients
  for (std::size_t b = 0; b < step.buckets.size() && !common; ++b) {
    common = known_dtype(static_cast<std::int32_t>(b));
  }
  bool assumed = false;
  std::string words;
  for (GradientSize& size : result.sizes) {
    std::optional<DtypeWord> dtype = known_dtype(size.bucket);
    if (!dtype && !size.dtype.empty()) {
      dtype = dtype_of_pytorch(size.dtype);
    }
    if (!dtype) {
      dtype = common;
    }
    if (!dtype) {
      assumed = true;
      dtype = dtype_of_pytorch(sources.dtype.value_or("float32"));
    }
    size.dtype = dtype.value_or(kFloat32).word;
    size.bytes = size.elements.value_or(0) * dtype.value_or(kFloat32).bytes;
    size.extra_bytes *= dtype.value_or(kFloat32).bytes;
    if (size.bucket != BucketMember::kNever && words.find(size.dtype) == std::string::npos) {
      words += (words.empty() ? "" : " and ") + size.dtype;
    }
  }
  if (assumed && !sources.dtype) {
    result.notes.push_back("dtype assumed: float32");
  }
  result.source += (assumed ? ", dtype assumed: " : ", ") + words;
}

// DDP's own list of the parameters in each bucket.
bool settle_by_list(const StepSample& step, const SizeSources& sources,
                    std::vector<GradientSize>& sizes) {
  std::size_t listed = 0;
  for (const auto& parameters : sources.bucket_parameters) {
    listed += parameters.size();
  }
  if (sources.table == nullptr || sources.table_in_ready_order || listed != sizes.size() ||
      sources.bucket_parameters.size() != step.buckets.size()) {
    return false;
  }
  for (std::size_t b = 0; b < sources.bucket_parameters.size(); ++b) {
    for (const std::int64_t parameter : sources.bucket_parameters[b]) {
      if (parameter >= std::ssize(sizes)) {
        return false;
      }
      sizes[sizes.size() - 1 - static_cast<std::size_t>(parameter)].bucket =
          static_cast<std::int32_t>(b);
    }
  }
  return true;
}

// What to give, the most helpful first.
std::string remedy_of(const StepSample& step, const SizeSources& sources) {
  if (step.gradients.empty()) {
    return "no gradient nodes (torch::autograd::AccumulateGrad) in the backward pass: not a step "
           "of "
           "training";
  }
  std::string fitting;
  std::size_t fits = 0;
  for (const train::ModelTable& table : sources.tables) {
    if (!fit_table(step, table).sizes.empty()) {
      ++fits;
      fitting = table.name;
    }
  }
  const std::string count = counted(std::ssize(step.gradients), "gradient");
  if (fits == 1) {
    return count + ": --model " + fitting + " fits";
  }
  if (!step.buckets.empty()) {
    return counted(std::ssize(step.buckets), "measured all-reduce") +
           " without sizes: give --sizes sizes.csv (see import --help)";
  }
  return count + ", no sizes: give --parameters N (the model's parameter count; assumed spread)" +
         (sources.record_shapes ? "" : ", or profile again with record_shapes=True");
}

} // namespace

GradientSizes find_sizes(const StepSample& step, const SizeSources& sources,
                         const std::string& file) {
  GradientSizes result;
  std::optional<Found> found;
  if (!step.gradients.empty()) {
    found = first_answer(step, sources, file, result.notes);
  }
  if (!found) {
    result.notes.emplace_back("gradient sizes are unknown");
    result.remedy = remedy_of(step, sources);
    return result;
  }
  result.sizes = std::move(found->sizes);
  result.assumed = found->is_estimate;
  if (!found->is_estimate && !settle_by_list(step, sources, result.sizes)) {
    BucketMembers settled = assign_buckets(step, elements_of(result.sizes));
    if (found->must_fit && !settled.difference.empty()) {
      throw InputError(file, "", settled.difference + found->name);
    }
    for (std::size_t i = 0; i < result.sizes.size(); ++i) {
      result.sizes[i].elements = settled.members[i].elements;
      result.sizes[i].bucket = settled.members[i].bucket;
      result.sizes[i].extra_bytes = settled.members[i].extra_elements;
    }
    std::ranges::move(settled.notes, std::back_inserter(result.notes));
  }
  std::int64_t sent = 0;
  std::int64_t known = 0;
  for (GradientSize& size : result.sizes) {
    if (size.bucket != BucketMember::kNever) {
      ++sent;
      known += size.elements ? 1 : 0;
      size.elements = size.elements.value_or(0); // unknown ones are few: they count as nothing
    }
  }
  if (known < sent) {
    result.notes.push_back(
        fmt::format("{} of {} gradients have no recorded size and count 0", sent - known, sent));
  }
  result.source = found->words;
  if (!found->is_estimate) {
    result.source += fmt::format(" ({} of {} tensors)", known, sent);
  }
  add_bytes(step, sources, result);
  if (found->is_estimate) {
    result.source += ", assumed";
    result.notes.push_back("gradient sizes are assumed: " + found->words);
  } else if (buckets_have_sizes(step)) {
    result.source += ", checked against " + counted(std::ssize(step.buckets), "measured bucket");
  }
  return result;
}

} // namespace stepsim::io
