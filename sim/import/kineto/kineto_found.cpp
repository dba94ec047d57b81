// Sources differ in what they know; the order of the gradients is that of the step for all of them.
#include "import/kineto/kineto_found.hpp"

#include <fmt/core.h>

namespace stepsim::io {

namespace {

void set_tensor(GradientSize& size, const KinetoTensor& tensor) {
  if (tensor.elements > 0) {
    size.elements = tensor.elements;
    size.dtype = dtype_of_pytorch(tensor.dtype).value_or(DtypeWord{}).word;
    size.shape = tensor.shape;
  }
}

} // namespace

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
    const KinetoInputs& parameters = layer.parameters;
    GradientSize& size = found.sizes.emplace_back();
    if (std::ssize(parameters) == layer.gradients && used[l] < parameters.size()) {
      set_tensor(size, parameters[parameters.size() - 1 - used[l]++]);
      any = true;
    }
  }
  return any ? std::optional(std::move(found)) : std::nullopt;
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
  return Found{std::move(fit.sizes), "model table " + *sources.model, "model " + *sources.model,
               true};
}

// Source 6. Two tables that fit with the same sizes are as good as one; with different sizes
// neither is used.
std::optional<Found> from_fitting_model(const StepSample& step,
                                        std::span<const layers::ModelTable> tables,
                                        std::vector<std::string>& notes) {
  if (!buckets_have_sizes(step)) {
    return std::nullopt;
  }
  std::optional<Found> found;
  std::string names;
  for (const layers::ModelTable& table : tables) {
    if (table.elements() != bucket_elements(step)) {
      continue;
    }
    TableFit fit = fit_table(step, table);
    if (fit.sizes.empty()) {
      continue;
    }
    Found next{std::move(fit.sizes), "", "model " + table.name, true};
    const std::string difference = assign_buckets(step, next.sizes).difference;
    if (!difference.empty()) {
      notes.push_back(difference + next.name + "; the table is not used");
      continue;
    }
    if (found && !std::ranges::equal(found->sizes, next.sizes, {}, &GradientSize::elements,
                                     &GradientSize::elements)) {
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
  const bool carried = std::ranges::any_of(
      step.gradients, [](const GradientSample& gradient) { return gradient.bucket >= 0; });
  if (!buckets_have_sizes(step) || !carried) {
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
    found.sizes[i].bucket = bucket >= 0 ? bucket : GradientSize::kNever;
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

std::vector<double> size_weights(const StepSample& step) {
  std::vector<double> weights;
  for (const GradientSample& gradient : step.gradients) {
    const LayerSample& layer = step.layers[static_cast<std::size_t>(gradient.layer)];
    const bool normalizes = layer.operation.get().find("norm") != std::string::npos;
    weights.push_back(normalizes ? 0.0
                                 : static_cast<double>(layer.backward) /
                                       static_cast<double>(layer.gradients));
  }
  return weights;
}

std::vector<std::int64_t> spread_elements(std::int64_t total, std::span<const double> weights) {
  std::vector<std::int64_t> parts;
  if (weights.empty()) {
    return parts;
  }
  double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<double> share(weights.begin(), weights.end());
  if (sum <= 0) {
    std::ranges::fill(share, 1.0);
    sum = static_cast<double>(share.size());
  }
  std::vector<std::pair<double, std::size_t>> remainders;
  std::int64_t left = total;
  for (std::size_t i = 0; i < share.size(); ++i) {
    const double exact = static_cast<double>(total) * (share[i] / sum);
    parts.push_back(std::min(static_cast<std::int64_t>(std::floor(exact)), left));
    left -= parts.back();
    remainders.emplace_back(exact - std::floor(exact), i);
  }
  std::ranges::stable_sort(remainders, std::ranges::greater{},
                           [](const auto& row) { return row.first; });
  for (std::size_t i = 0; left > 0; i = (i + 1) % remainders.size(), --left) {
    ++parts[remainders[i].second];
  }
  return parts;
}

} // namespace stepsim::io
