// A trace and a model table become the same thing: layers with times and, per layer, the tensors in
// the order in which their gradients are ready. Granularity then joins tensors, and the list is
// turned round, because backward goes from the last layer to the first.
#include "layers/workload.hpp"

#include <cassert>
#include <functional>
#include <numeric>
#include <ranges>

#include "base/collected.hpp"
#include "base/quantity.hpp"

namespace stepsim::layers {

namespace {

constexpr std::int64_t kAssumedValueBytes = 4; // float32

// Of a trace's tensor: as told, by its shape, or by its dtype; 0 = unknown.
std::int64_t elements_of(const Tensor& tensor, Bytes bytes) {
  if (tensor.elements) {
    return *tensor.elements;
  }
  if (!tensor.shape.empty()) {
    const double count =
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), 1.0, std::multiplies<>());
    return count <= static_cast<double>(bytes.value) ? static_cast<std::int64_t>(count) : 0;
  }
  const std::int64_t size = dtype_bytes(tensor.dtype);
  return size > 0 && bytes.value % size == 0 ? bytes.value / size : 0;
}

struct TensorItem { // what a layer contributes, before granularity is applied
  std::int64_t elements{};
  Bytes bytes;
  std::string dtype;
  std::int64_t registration{};
  bool is_weight = false; // two dimensions or more
  std::int64_t bucket = -1;
  std::vector<collectives::MatrixShape> shapes{};
};

// The first dimension against all others (SPA 11, powersgd).
collectives::MatrixShape matrix_of(const std::vector<std::int64_t>& shape) {
  collectives::MatrixShape matrix{1, 1};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    (d == 0 ? matrix.rows : matrix.columns) *= shape[d];
  }
  return matrix;
}

using LayerItems = std::vector<std::vector<TensorItem>>; // [layer][tensor], gradient-ready order

// One gradient in place of several. What they do not share is unknown: elements, type, bucket.
TensorItem joined(const std::vector<TensorItem>& items) {
  TensorItem sum = items.front();
  for (const TensorItem& item : items | std::views::drop(1)) {
    const auto is_known = [](const TensorItem& each) {
      return each.elements > 0 || each.bytes.value == 0;
    };
    const bool known = is_known(sum) && is_known(item);
    sum.elements = known ? sum.elements + item.elements : 0;
    sum.bytes += item.bytes;
    sum.registration = std::min(sum.registration, item.registration);
    sum.is_weight = sum.is_weight || item.is_weight;
    sum.bucket = item.bucket == sum.bucket ? sum.bucket : -1;
    sum.shapes.insert(sum.shapes.end(), item.shapes.begin(), item.shapes.end());
    if (item.dtype != sum.dtype) {
      sum.dtype.clear();
    }
  }
  return sum;
}

void join_layers(LayerItems& layers) {
  for (auto& items : layers) {
    if (items.size() > 1) {
      items = {joined(items)};
    }
  }
}

// Layers without a weight join the previous layer that has one, leading ones the first (MOD 8).
void join_to_weights(LayerItems& layers) {
  join_layers(layers);
  const auto has_weight = [](const auto& items) {
    return !items.empty() && items.front().is_weight;
  };
  const auto first = std::ranges::find_if(layers, has_weight);
  if (first == layers.end()) {
    return;
  }
  auto target = first;
  for (auto layer = layers.begin(); layer != layers.end(); ++layer) {
    if (has_weight(*layer)) {
      target = layer;
    } else if (!layer->empty()) {
      target->front() = joined({target->front(), layer->front()});
      layer->clear();
    }
  }
}

// The gradients of one layer, in gradient-ready order.
void append_layer(Workload& workload, std::size_t layer, std::vector<TensorItem>& items,
                  bool measured_order) {
  for (TensorItem& item : items) {
    workload.gradients.edit().push_back({.layer = static_cast<std::uint32_t>(layer),
                                         .bytes = item.bytes,
                                         .elements = item.elements,
                                         .dtype = std::move(item.dtype),
                                         .registration = item.registration,
                                         .measured_order = measured_order,
                                         .shapes = std::move(item.shapes),
                                         .bucket = item.bucket});
  }
}

// In backward order.
void append_gradients(Workload& workload, LayerItems layers, Granularity granularity) {
  if (granularity == Granularity::layer) {
    join_layers(layers);
  } else if (granularity == Granularity::weight) {
    join_to_weights(layers);
  }
  for (std::size_t layer = layers.size(); layer-- > 0;) {
    append_layer(workload, layer, layers[layer], false);
  }
}

// Whether the tensors of a trace's layer have sizes; else the layer is one gradient of its bytes.
bool has_sizes(const Layer& layer) {
  return !layer.tensors.empty() && std::ranges::all_of(layer.tensors, [](const Tensor& tensor) {
    return tensor.bytes.has_value();
  });
}

std::int64_t item_count(const Layer& layer) {
  return has_sizes(layer) ? static_cast<std::int64_t>(layer.tensors.size())
                          : std::int64_t{layer.gradient_bytes->value > 0};
}

std::vector<TensorItem> items_of(const Layer& layer) {
  std::vector<TensorItem> list;
  if (has_sizes(layer)) {
    for (const Tensor& tensor : layer.tensors) {
      const std::int64_t size = std::max<std::int64_t>(dtype_bytes(tensor.dtype), 1);
      list.push_back(
          {.elements = elements_of(tensor, *tensor.bytes) + tensor.extra_bytes.value / size,
           .bytes = *tensor.bytes + tensor.extra_bytes,
           .dtype = tensor.dtype,
           .bucket = tensor.bucket.value_or(-1)});
      if (!tensor.shape.empty()) {
        list.back().shapes = {matrix_of(tensor.shape)};
      }
    }
  } else if (layer.gradient_bytes->value > 0) {
    const std::string dtype = layer.tensors.empty() ? "" : layer.tensors.front().dtype;
    list.push_back({.bytes = *layer.gradient_bytes, .dtype = dtype});
  }
  return list;
}

// Forward times without a measurement: 2 FLOP per multiply-accumulate at the device's rate; or a
// measured total, shared out by multiply-accumulates.
std::vector<Seconds> forward_times(const ModelTable& table, const std::vector<std::size_t>& order,
                                   const ProfileOptions& options) {
  const auto macs = static_cast<double>(table.macs());
  std::vector<Seconds> times;
  for (const std::size_t index : order) {
    const ModelLayer& layer = table.layers[index];
    const auto layer_macs = static_cast<double>(layer.macs);
    if (options.measured) {
      const double share = macs > 0 ? layer_macs / macs : 0;
      times.push_back(options.measured->forward * share);
    } else {
      const double rate = options.device->flops.value * options.device->utilization;
      const double batch = static_cast<double>(options.batch_size);
      const Seconds overhead =
          layer.macs > 0 || !layer.tensors.empty() ? options.layer_overhead : Seconds{};
      times.push_back(Seconds{batch * 2 * layer_macs / rate} + overhead);
    }
  }
  return times;
}

// By the factor, or the share of the forward pass in the measured total.
std::vector<Seconds> backward_times(const std::vector<Seconds>& forward,
                                    const ProfileOptions& options) {
  const double total = options.measured ? options.measured->forward.value : 0;
  return base::collected<Seconds>(forward, [&](Seconds each) {
    return options.measured ? options.measured->backward * (total > 0 ? each.value / total : 0)
                            : each * options.backward_factor;
  });
}

// "layer times are estimated for h100 in bf16: measured ones lie between 0.8 and 1.25 of them"
std::string estimate_warning(const EstimatedTimes& times, const GpuEstimate& estimate) {
  const EstimateInterval& interval = times.interval;
  const std::string text = "layer times are estimated for " + std::string(estimate.gpu->name) +
                           " in " + std::string(kPrecisions[estimate.precision]) +
                           (estimate.measured ? " and scaled to a measured step" : "");
  if (interval.low == interval.high) {
    constexpr double kFar = 2;
    return text + (times.scale > kFar || times.scale < 1 / kFar
                       ? ", which took " + base::significant(times.scale, 3) +
                             " times as long as estimated: another unit, or something that the "
                             "estimate does not know"
                       : "");
  }
  return text +
         (interval.validated ? ": measured ones lie" : ", unvalidated: measured ones may lie") +
         " between " + base::shortest(interval.low) + " and " + base::shortest(interval.high) +
         " of them";
}

} // namespace

std::int64_t Gradient::values() const {
  if (elements > 0) {
    return elements;
  }
  const std::int64_t known = dtype_bytes(dtype);
  const std::int64_t size = known > 0 ? known : kAssumedValueBytes;
  return bytes.value / size + (bytes.value % size == 0 ? 0 : 1);
}

void Workload::add_loss(Seconds seconds) {
  WorkLayer& last = layers.edit().back();
  without_loss = last.forward;
  last.forward += seconds;
}

Seconds Workload::forward() const { return base::sum_of<Seconds>(layers, &WorkLayer::forward); }

Seconds Workload::backward() const {
  // In backward order, so that the sum is bit-equal to the ready time of the last gradient.
  return std::accumulate(layers.get().rbegin(), layers.get().rend(), Seconds{},
                         [](Seconds sum, const WorkLayer& layer) { return sum + layer.backward; });
}

std::vector<Seconds> Workload::backward_ends() const {
  const std::vector<WorkLayer>& all = layers;
  std::vector<Seconds> ends(all.size());
  Seconds t;
  for (std::size_t l = ends.size(); l-- > 0;) {
    ends[l] = t += all[l].backward;
  }
  return ends;
}

Bytes Workload::bytes() const { return base::sum_of<Bytes>(gradients, &Gradient::bytes); }

std::int64_t Workload::values() const {
  return base::sum_of<std::int64_t>(gradients, &Gradient::values);
}

double Workload::bytes_per_value() const {
  std::int64_t sum = 0, count = 0;
  for (const Gradient& each : gradients) {
    sum += each.bytes.value;
    count += each.values();
  }
  return count > 0 ? static_cast<double>(sum) / static_cast<double>(count)
                   : static_cast<double>(kAssumedValueBytes);
}

bool Workload::buckets_cover_gradients() const {
  const auto count = static_cast<std::int64_t>(buckets.size());
  return count > 0 && std::ranges::all_of(gradients, [&](const Gradient& gradient) {
           return gradient.bytes.value == 0 || (gradient.bucket >= 0 && gradient.bucket < count);
         });
}

Workload workload_from_trace(const Trace& trace, Granularity granularity) {
  // The update of a sharded job was timed on one shard; that of a workload is of all parameters.
  const double shards = trace.sharding ? static_cast<double>(trace.sharding->group_size) : 1;
  Workload workload{.name = trace.name,
                    .provenance = trace.provenance,
                    .batch_size = trace.batch_size,
                    .update = (trace.update + trace.framework) * shards,
                    .warnings = trace.warnings,
                    .buckets = trace.buckets,
                    .measured_ranks = trace.ranks,
                    .device = trace.device.value_or(""),
                    .accumulation = trace.accumulation,
                    .reduces_each = trace.reduces_each,
                    .units = trace.units,
                    .sharding = trace.sharding};
  std::int64_t position = 0;
  workload.layers.edit().reserve(trace.layers.size());
  for (const Layer& layer : trace.layers) {
    assert(layer.forward && layer.backward && layer.gradient_bytes && "times and sizes are known");
    workload.layers.edit().push_back({layer.name, *layer.forward, *layer.backward});
    position += item_count(layer);
  }
  // Registration order is not in a trace: the reverse of the ready order stands in for it (MOD 7).
  // No tensor is known to be a weight, so that `weight` joins the tensors of each layer, too.
  const bool joins = granularity != Granularity::tensor;
  workload.gradients.edit().reserve(joins ? trace.layers.size()
                                          : static_cast<std::size_t>(position));
  for (std::size_t layer = trace.layers.size(); layer-- > 0;) {
    std::vector<TensorItem> items = items_of(trace.layers[layer]);
    for (TensorItem& item : items) {
      item.registration = --position;
    }
    if (joins && items.size() > 1) {
      items = {joined(items)};
    }
    append_layer(workload, layer, items, true);
  }
  return workload;
}

Workload workload_from_model(const ModelTable& table, const ProfileOptions& options) {
  assert(int{options.device.has_value()} + int{options.measured.has_value()} +
                 int{options.estimate.has_value()} ==
             1 &&
         "exactly one is given");
  Workload workload{.name = table.name,
                    .provenance = options.measured   ? Provenance::scaled
                                  : options.estimate ? Provenance::estimated
                                                     : Provenance::synthetic,
                    .batch_size = options.batch_size,
                    .warnings = table.warnings};
  const std::vector<std::size_t> order = table.execution_order();
  std::vector<Seconds> forward, backward;
  if (options.estimate) {
    GpuEstimate estimate = *options.estimate;
    if (estimate.recompute == Recompute::selective && options.attention == Attention::flash) {
      estimate.recompute = Recompute::none; // its backward always makes the scores again
    }
    EstimatedTimes times = estimated_times(table, options.batch_size, estimate);
    workload.update = times.update;
    workload.interval = times.interval;
    workload.estimate_scale = times.scale;
    workload.warnings.push_back(estimate_warning(times, *options.estimate));
    forward = std::move(times.forward);
    backward = std::move(times.backward);
  } else {
    workload.warnings.emplace_back("layer times are synthetic: shares of MACs, not measurements");
    forward = forward_times(table, order, options);
    backward = backward_times(forward, options);
  }
  std::vector<std::int64_t> first_tensor; // registration position of each layer's first tensor
  std::int64_t position = 0;
  for (const ModelLayer& layer : table.layers) {
    first_tensor.push_back(position);
    position += static_cast<std::int64_t>(layer.tensors.size());
  }
  LayerItems items;
  for (std::size_t k = 0; k < order.size(); ++k) {
    const ModelLayer& layer = table.layers[order[k]];
    workload.layers.edit().push_back({layer.name, forward[k], backward[k]});
    std::vector<TensorItem>& list = items.emplace_back();
    for (std::size_t t = layer.tensors.size(); t-- > 0;) { // bias before weight
      const ModelTensor& tensor = layer.tensors[t];
      list.push_back({.elements = tensor.elements(),
                      .bytes = {tensor.elements() * options.value_bytes},
                      .dtype = options.value_bytes == 2 ? "float16" : "float32",
                      .registration = first_tensor[order[k]] + static_cast<std::int64_t>(t),
                      .is_weight = tensor.shape.size() >= 2,
                      .shapes = {matrix_of(tensor.shape)}});
    }
  }
  if (table.macs() == 0) {
    workload.warnings.push_back("no layer has multiply-accumulates: all times are 0");
  }
  append_gradients(workload, std::move(items), options.granularity);
  add_activations(table, options, workload);
  return workload;
}

void scale_backward(Workload& workload, Seconds total) {
  const Seconds now = workload.backward();
  if (now.value > 0) {
    const double factor = total / now;
    for (WorkLayer& layer : workload.layers.edit()) {
      layer.backward = layer.backward * factor;
    }
  }
}

} // namespace stepsim::layers
