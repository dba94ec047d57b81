// A trace names no parameters: sizes come from recorded shapes, from a model table that the user
// names, or from the one table whose tensors fit layers and buckets of the trace. Measured buckets
// check any of them, since DDP's buckets hold the elements of their gradients.
#include "import/kineto/kineto_sizes.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace stepsim::io {

namespace {

constexpr std::string_view kUnknownSizes =
    "gradient sizes are unknown: import with --model, or record_shapes=True";

// Layers of a table that have parameters, in forward order.
std::vector<const train::ModelLayer*> parameter_layers(const train::ModelTable& table) {
  std::vector<const train::ModelLayer*> layers;
  for (const std::size_t i : table.execution_order()) {
    if (!table.layers[i].tensors.empty()) {
      layers.push_back(&table.layers[i]);
    }
  }
  return layers;
}

// Gradients of a layer become ready in reverse order of registration: a bias before its weight.
std::vector<GradientSize> ready_order(const train::ModelLayer& layer, DtypeWord dtype) {
  std::vector<GradientSize> sizes;
  for (auto tensor = layer.tensors.rbegin(); tensor != layer.tensors.rend(); ++tensor) {
    const std::int64_t elements = tensor->elements();
    sizes.push_back({elements, elements * dtype.bytes, std::string(dtype.word),
                     layer.name + "." + tensor->name, tensor->shape});
  }
  return sizes;
}

// "" if the sizes add up to every bucket, else the first difference.
std::string bucket_difference(const StepSample& step, const std::vector<GradientSize>& sizes,
                              const std::string& from) {
  std::vector<std::int64_t> sums(step.buckets.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (step.gradients[i].bucket >= 0) {
      sums[static_cast<std::size_t>(step.gradients[i].bucket)] += sizes[i].elements;
    }
  }
  for (std::size_t b = 0; b < sums.size(); ++b) {
    if (sums[b] != step.buckets[b].elements) {
      return fmt::format("bucket {}: {} elements measured, {} from {}", b, step.buckets[b].elements,
                         sums[b], from);
    }
  }
  return "";
}

constexpr DtypeWord kFloat32{"float32", 4};

// Gradients have the type in which they are exchanged; float32 where no bucket says.
DtypeWord bucket_dtype(const StepSample& step) {
  return step.buckets.empty() ? kFloat32
                              : dtype_of_pytorch(step.buckets[0].dtype).value_or(kFloat32);
}

struct TableFit {
  std::vector<GradientSize> sizes; // empty if it does not fit
  std::string difference;          // why not
};

// One table layer per layer with gradients, with as many tensors as gradients.
// Layers with gradients are taken in forward order, and so are the table's.
TableFit fit_table(const StepSample& step, const train::ModelTable& table) {
  const auto parameters = parameter_layers(table);
  const auto with_gradients = std::ranges::count_if(
      step.layers, [](const LayerSample& layer) { return layer.gradients > 0; });
  if (with_gradients != std::ssize(parameters)) {
    return {{},
            fmt::format("{} layers with gradients in the trace, {} in the table", with_gradients,
                        parameters.size())};
  }
  const DtypeWord dtype = bucket_dtype(step);
  std::vector<std::vector<GradientSize>> sizes(step.layers.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    if (step.layers[i].gradients == 0) {
      continue;
    }
    const train::ModelLayer& layer = *parameters[next++];
    if (step.layers[i].gradients != std::ssize(layer.tensors)) {
      return {{},
              fmt::format("{} has {} tensors, {} gradients in the trace", layer.name,
                          layer.tensors.size(), step.layers[i].gradients)};
    }
    sizes[i] = ready_order(layer, dtype);
  }
  TableFit fit;
  std::vector<std::size_t> used(step.layers.size());
  for (const GradientSample& gradient : step.gradients) {
    const auto layer = static_cast<std::size_t>(gradient.layer);
    fit.sizes.push_back(sizes[layer][used[layer]++]);
  }
  return fit;
}

// Only if every gradient has one: a size that is missing cannot be guessed.
std::optional<std::vector<GradientSize>> recorded_shapes(const StepSample& step) {
  std::vector<GradientSize> sizes;
  for (const GradientSample& gradient : step.gradients) {
    if (!gradient.shape) {
      return std::nullopt;
    }
    const std::int64_t elements = gradient.shape->elements;
    const DtypeWord dtype = dtype_of_pytorch(gradient.shape->dtype).value_or(kFloat32);
    sizes.push_back({elements, elements * dtype.bytes, std::string(dtype.word), ""});
  }
  return sizes;
}

// Names do not count: two tables of one network may call their layers differently.
bool same_elements(const std::vector<GradientSize>& a, const std::vector<GradientSize>& b) {
  return std::ranges::equal(a, b, {}, &GradientSize::elements, &GradientSize::elements);
}

// Two tables that fit with the same sizes are as good as one; with different sizes neither is used.
GradientSizes match_tables(const StepSample& step, std::span<const train::ModelTable> tables) {
  std::int64_t measured = 0;
  for (const CollectiveSample& bucket : step.buckets) {
    measured += bucket.elements;
  }
  GradientSizes result;
  std::string names;
  for (const train::ModelTable& table : tables) {
    if (table.elements() != measured) {
      continue;
    }
    TableFit fit = fit_table(step, table);
    if (fit.sizes.empty()) {
      continue;
    }
    if (const std::string difference = bucket_difference(step, fit.sizes, "model " + table.name);
        !difference.empty()) {
      result.notes.push_back(difference + "; the table is not used");
      continue;
    }
    if (!result.sizes.empty() && !same_elements(result.sizes, fit.sizes)) {
      return {{},
              {"models " + names + " and " + table.name +
                   " both fit with different sizes: choose with --model",
               std::string(kUnknownSizes)},
              ""};
    }
    names += (names.empty() ? "" : ", ") + table.name;
    result.sizes = std::move(fit.sizes);
  }
  if (result.sizes.empty()) {
    result.notes.emplace_back(kUnknownSizes);
  } else {
    result.notes.clear();
    result.fit = fmt::format("gradient sizes from model table {}: its {} tensors and {} elements "
                             "fit the layers and buckets",
                             names, step.gradients.size(), measured);
  }
  return result;
}

// Kinds of layers with parameters, as operators of PyTorch and rows of tables name them.
enum class Kind { other, convolution, linear, normalisation };

Kind size_kind_of(std::string_view text) {
  const auto contains = [&](std::string_view part) { return text.find(part) != text.npos; };
  if (contains("conv")) {
    return Kind::convolution;
  }
  if (contains("linear") || contains("addmm")) {
    return Kind::linear;
  }
  return contains("norm") ? Kind::normalisation : Kind::other;
}

} // namespace

const train::ModelTable& table_named(std::span<const train::ModelTable> tables,
                                     const std::string& name) {
  std::vector<std::string_view> names;
  for (const train::ModelTable& table : tables) {
    if (table.name == name) {
      return table;
    }
    names.push_back(table.name);
  }
  throw UsageError("--model: unknown model " + base::shown_value(name) +
                   base::did_you_mean(name, names) +
                   "; a table of your own is a FILE of kind model, see docs/file-formats.md");
}

// In the order of trust. What the user names has to fit; what was only found may be left.
GradientSizes find_sizes(const StepSample& step, const SizeSources& sources,
                         const std::string& file) {
  // What the user names and the buckets contradict is an error, not a note.
  const auto must_fit = [&](const std::vector<GradientSize>& sizes, const std::string& from) {
    if (const std::string difference = bucket_difference(step, sizes, from); !difference.empty()) {
      throw InputError(file, "", difference);
    }
  };
  GradientSizes result;
  if (auto shapes = recorded_shapes(step); shapes && !shapes->empty()) {
    const std::string difference = bucket_difference(step, *shapes, "recorded shapes");
    if (difference.empty()) {
      result.sizes = std::move(*shapes);
      return result;
    }
    result.notes.push_back(difference + "; recorded shapes are not used");
  }
  if (sources.model) {
    TableFit fit = fit_table(step, table_named(sources.tables, *sources.model));
    if (fit.sizes.empty()) {
      throw InputError(file, "", "model " + *sources.model + " does not fit: " + fit.difference);
    }
    must_fit(fit.sizes, "model " + *sources.model);
    result.sizes = std::move(fit.sizes);
    return result;
  }
  if (step.gradients.empty()) {
    return result;
  }
  if (step.buckets.empty()) {
    result.notes.emplace_back(kUnknownSizes);
    return result;
  }
  GradientSizes matched = match_tables(step, sources.tables);
  matched.notes.insert(matched.notes.begin(), result.notes.begin(), result.notes.end());
  return matched;
}

std::vector<std::vector<GradientSize>>
// Of forward-only traces, which have no gradients: operators with parameters, in their order,
// against the layers of the table.
sizes_by_kind(const StepSample& step, const train::ModelTable& table, const std::string& file) {
  const auto parameters = parameter_layers(table);
  std::vector<std::vector<GradientSize>> sizes(step.layers.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    const Kind kind = size_kind_of(step.layers[i].operation);
    if (kind == Kind::other) {
      continue;
    }
    if (next == parameters.size() || size_kind_of(parameters[next]->kind) != kind) {
      throw InputError(file, "",
                       "model " + table.name + " does not fit: operator " +
                           step.layers[i].operation + " where the table has " +
                           (next == parameters.size()
                                ? "no more layers"
                                : parameters[next]->name + " (" + parameters[next]->kind + ")"));
    }
    sizes[i] = ready_order(*parameters[next++], kFloat32);
  }
  if (next != parameters.size()) {
    throw InputError(
        file, "",
        fmt::format(
            "model {} does not fit: {} operators with parameters in the trace, {} in the table",
            table.name, next, parameters.size()));
  }
  return sizes;
}

} // namespace stepsim::io
