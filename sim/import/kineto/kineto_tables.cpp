// A table of the model has the sizes that a trace lacks. It fits if its layers with parameters have
// the trace's numbers of gradients, in the order in which they run.
#include "import/kineto/kineto_sizes.hpp"

#include <fmt/core.h>

namespace stepsim::io {

namespace {

// Layers of a table that have parameters, in forward order.
std::vector<const layers::ModelLayer*> parameter_layers(const layers::ModelTable& table) {
  std::vector<const layers::ModelLayer*> layers;
  for (const std::size_t i : table.execution_order()) {
    if (!table.layers[i].tensors.empty()) {
      layers.push_back(&table.layers[i]);
    }
  }
  return layers;
}

// Gradients of a layer become ready in reverse order of registration: a bias before its weight.
std::vector<GradientSize> ready_order(const layers::ModelLayer& layer) {
  std::vector<GradientSize> sizes;
  for (auto tensor = layer.tensors.rbegin(); tensor != layer.tensors.rend(); ++tensor) {
    GradientSize& size = sizes.emplace_back();
    size.elements = tensor->elements();
    size.name = layer.name + "." + tensor->name;
    size.shape = tensor->shape;
  }
  return sizes;
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

// One table layer per layer with gradients, with as many tensors as gradients.
// Layers with gradients are taken in forward order, and so are the table's.
TableFit fit_table(const StepSample& step, const layers::ModelTable& table) {
  const auto parameters = parameter_layers(table);
  const auto with_gradients = std::ranges::count_if(
      step.layers, [](const LayerSample& layer) { return layer.gradients > 0; });
  if (with_gradients != std::ssize(parameters)) {
    return {{},
            fmt::format("{} layers with gradients in the trace, {} in the table", with_gradients,
                        parameters.size())};
  }
  std::vector<std::vector<GradientSize>> sizes(step.layers.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    if (step.layers[i].gradients == 0) {
      continue;
    }
    const layers::ModelLayer& layer = *parameters[next++];
    if (step.layers[i].gradients != std::ssize(layer.tensors)) {
      return {{},
              fmt::format("{} has {} tensors, {} gradients in the trace", layer.name,
                          layer.tensors.size(), step.layers[i].gradients)};
    }
    sizes[i] = ready_order(layer);
  }
  TableFit fit;
  std::vector<std::size_t> used(step.layers.size());
  for (const GradientSample& gradient : step.gradients) {
    const auto layer = static_cast<std::size_t>(gradient.layer);
    fit.sizes.push_back(sizes[layer][used[layer]++]);
  }
  return fit;
}

const layers::ModelTable& table_named(std::span<const layers::ModelTable> tables,
                                      const std::string& name) {
  std::vector<std::string_view> names;
  for (const layers::ModelTable& table : tables) {
    if (table.name == name) {
      return table;
    }
    names.push_back(table.name);
  }
  throw UsageError("--model: unknown model " + base::shown_value(name) +
                   base::did_you_mean(name, names) +
                   "; a table of your own is a FILE of kind model, see docs/file-formats.md");
}

// Operators with parameters, in their order, against the layers of the table.
std::vector<std::vector<GradientSize>>
sizes_by_kind(const StepSample& step, const layers::ModelTable& table, const std::string& file) {
  const auto parameters = parameter_layers(table);
  std::vector<std::vector<GradientSize>> sizes(step.layers.size());
  std::size_t next = 0;
  for (std::size_t i = 0; i < step.layers.size(); ++i) {
    const Kind kind = size_kind_of(step.layers[i].operation.get());
    if (kind == Kind::other) {
      continue;
    }
    if (next == parameters.size() || size_kind_of(parameters[next]->kind) != kind) {
      throw InputError(file, "",
                       "model " + table.name + " does not fit: operator " +
                           step.layers[i].operation.get() + " where the table has " +
                           (next == parameters.size()
                                ? "no more layers"
                                : parameters[next]->name + " (" + parameters[next]->kind + ")"));
    }
    sizes[i] = ready_order(*parameters[next++]);
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
