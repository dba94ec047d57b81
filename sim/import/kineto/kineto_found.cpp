// Sources differ in what they know; the order of the gradients is that of the step for all of them.
#include "import/kineto/kineto_sizes.hpp"

namespace stepsim::io {

namespace {

void set_tensor(GradientSize& size, const KinetoTensor& tensor) {
  if (tensor.elements > 0) {
    size.tensor.elements = tensor.elements;
    size.tensor.dtype = dtype_of_pytorch(tensor.dtype).value_or(DtypeWord{}).word;
    size.tensor.shape = tensor.shape;
  }
}

// The bucket of each gradient: the one that was measured or logged, else what follows in ready
// order by weight.
std::vector<std::int32_t> buckets_of(const StepSample& step, std::span<const double> weights) {
  std::vector<std::int32_t> buckets;
  for (const GradientSample& gradient : step.gradients) {
    buckets.push_back(gradient.bucket >= 0 ? gradient.bucket : GradientSize::kNever);
  }
  const bool known = std::ranges::any_of(buckets, [](std::int32_t each) { return each >= 0; });
  if (known || !step.logged_buckets) {
    return known ? buckets : std::vector<std::int32_t>();
  }
  const double all = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto share = [&](std::size_t b) {
    return static_cast<double>(step.buckets[b].call.elements) /
           static_cast<double>(bucket_elements(step));
  };
  std::size_t bucket = 0;
  double end = share(0);
  double before = 0;
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    const double part = all > 0 ? weights[i] / all : 1 / static_cast<double>(buckets.size());
    const std::size_t left = step.buckets.size() - bucket - 1; // each has at least one gradient
    if (i > 0 && left > 0 && (before + part / 2 > end || buckets.size() - i <= left)) {
      end += share(++bucket);
    }
    buckets[i] = static_cast<std::int32_t>(bucket);
    before += part;
  }
  return buckets;
}

} // namespace

std::int64_t bucket_elements(const StepSample& step) {
  return base::sum_of<std::int64_t>(step.buckets, [](const CollectiveSample& bucket) {
    return std::max<std::int64_t>(bucket.call.elements, 0);
  });
}

bool buckets_have_sizes(const StepSample& step) {
  return !step.buckets.empty() && std::ranges::all_of(step.buckets, [](const CollectiveSample& b) {
    return b.call.elements >= 0;
  });
}

std::string_view bucket_word(const StepSample& step) {
  return step.logged_buckets ? "logged" : "measured";
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
    layers::Tensor& tensor = found.sizes.emplace_back().tensor;
    tensor.elements = row.elements;
    tensor.dtype = row.dtype;
    tensor.name = row.name;
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
      std::ranges::any_of(found.sizes, [](const auto& s) { return s.tensor.elements.has_value(); });
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
  TableFit fit = fit_table(step, table_named(sources.tables(), *sources.model));
  if (fit.sizes.empty()) {
    throw InputError(file, "", "model " + *sources.model + " does not fit: " + fit.difference);
  }
  return Found{std::move(fit.sizes), "model table " + *sources.model, "model " + *sources.model,
               true};
}

// Source 6. Two tables that fit with the same sizes are as good as one; with different sizes
// neither is used.
std::optional<Found> from_fitting_model(const StepSample& step, const ModelTables& tables,
                                        std::vector<std::string>& notes) {
  if (!buckets_have_sizes(step)) {
    return std::nullopt;
  }
  std::optional<Found> found;
  std::string names;
  for (const layers::ModelTable& table : tables()) {
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
    const auto elements = [](const GradientSize& size) { return size.tensor.elements; };
    if (found && !std::ranges::equal(found->sizes, next.sizes, {}, elements, elements)) {
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

// Source 7: the gradients of a bucket share its elements.
std::optional<Found> from_buckets(const StepSample& step, std::span<const double> weights) {
  const std::vector<std::int32_t> buckets = buckets_of(step, weights);
  if (!buckets_have_sizes(step) || buckets.empty()) {
    return std::nullopt;
  }
  Found found;
  found.words = std::string(bucket_word(step)) + " buckets, " +
                (step.logged_buckets && step.gradients.front().bucket < 0
                     ? "filled in ready order: up to about 10 %"
                     : "spread within " + std::string(bucket_word(step)) + " buckets: about 1 %");
  found.is_estimate = true;
  found.sizes.resize(step.gradients.size());
  for (std::size_t b = 0; b < step.buckets.size(); ++b) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
      if (buckets[i] == static_cast<std::int32_t>(b)) {
        members.push_back(i);
      }
    }
    spread_over(step.buckets[b].call.elements, members, weights,
                [&](std::size_t i, std::int64_t part) { found.sizes[i].tensor.elements = part; });
  }
  for (std::size_t i = 0; i < buckets.size(); ++i) {
    found.sizes[i].bucket = buckets[i];
  }
  return found;
}

// Source 9.
std::optional<Found> from_units(const StepSample& step, const SizeSources& sources) {
  Found found;
  found.words = counted(std::ssize(sources.units), "measured unit") + ", spread within units";
  found.estimate = "spread within measured units";
  found.is_estimate = true;
  found.sizes.resize(step.gradients.size());
  for (const layers::MeasuredUnit& unit : sources.units) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < step.gradients.size(); ++i) {
      const std::int32_t layer = step.gradients[i].layer;
      if (found.sizes[i].tensor.dtype.empty() && layer >= unit.first_layer &&
          layer <= unit.last_layer) {
        members.push_back(i);
      }
    }
    const auto dtype = dtype_of_pytorch(unit.reduce_dtype);
    spread_over(unit.elements, members, sources.weights, [&](std::size_t i, std::int64_t part) {
      found.sizes[i].tensor.elements = part;
      found.sizes[i].tensor.dtype = dtype ? dtype->word : "float32";
    });
  }
  const bool all = std::ranges::all_of(
      found.sizes, [](const GradientSize& size) { return size.tensor.elements.has_value(); });
  return all ? std::optional(std::move(found)) : std::nullopt;
}

// Source 8.
Found from_total(std::int64_t total, std::span<const double> weights) {
  Found found;
  found.words =
      fmt::format("--parameters {}, spread over the backward pass: up to about 10 %", total);
  found.is_estimate = true;
  for (const std::int64_t part : spread_elements(total, weights)) {
    found.sizes.emplace_back().tensor.elements = part;
  }
  return found;
}

std::vector<double> size_weights(const StepSample& step, std::span<const layers::Layer> layers) {
  std::vector<double> weights;
  for (const GradientSample& gradient : step.gradients) {
    const auto l = static_cast<std::size_t>(gradient.layer);
    const bool normalizes = step.layers[l].operation.get().find("norm") != std::string::npos;
    weights.push_back(normalizes ? 0.0
                                 : layers[l].backward->value /
                                       static_cast<double>(step.layers[l].gradients));
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
