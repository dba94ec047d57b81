// One step to layers: a layer is an operator of the forward thread that some backward node matches,
// by its sequence number. Device time is charged to the layer whose operator launched it; what lies
// between layers goes to the next one.
#include "import/kineto/kineto_layers.hpp"

#include <algorithm>
#include <map>

#include "import/kineto/kineto_index.hpp"

namespace stepsim::io {

namespace {

// Everything that reading one step needs.
struct StepReader {
  const KinetoRecording& recording;
  const Attribution& attribution;
  const KinetoIndex& index;
  std::size_t step{};
  std::int32_t thread{}; // forward thread

  [[nodiscard]] const TopOperator& top(std::int32_t i) const {
    return attribution.tops[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] const KinetoEvent& event(std::int32_t i) const {
    return recording.events[static_cast<std::size_t>(i)];
  }
};

// Length of the union of intervals; `begins` ascend.
Nanoseconds covered(const std::vector<std::pair<Nanoseconds, Nanoseconds>>& intervals) {
  Nanoseconds sum = 0;
  Nanoseconds until = 0;
  for (const auto& [begin, end] : intervals) {
    const Nanoseconds from = std::max(begin, until);
    sum += std::max<Nanoseconds>(end - from, 0);
    until = std::max(until, end);
  }
  return sum;
}

// Kernels of several streams overlap: sums say how much work there was, unions how long it took.
StepTimes step_times(const StepReader& reader, const KinetoStep& step) {
  StepTimes times;
  times.wall = step.end - step.begin;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> all;
  std::vector<std::pair<Nanoseconds, Nanoseconds>> compute;
  for (const DeviceItem& item : reader.index.items(reader.step)) {
    times.work[static_cast<std::size_t>(item.work)] += item.duration();
    all.emplace_back(item.begin, item.end);
    if (item.work != WorkClass::communication) {
      compute.emplace_back(item.begin, item.end);
    }
    if (item.work == WorkClass::backward && reader.index.kind(item.top) == NodeKind::gradient) {
      times.gradient_nodes += item.duration();
    }
  }
  std::ranges::sort(all);
  std::ranges::sort(compute);
  times.busy = covered(all);
  times.compute_busy = covered(compute);
  return times;
}

// Position of the layer that a forward item counts for: its own operator's, else the next layer's,
// behind the last layer the last one's. `layers` are tops of the forward thread in start order.
std::size_t forward_layer(const StepReader& reader, const std::vector<std::int32_t>& layers,
                          const DeviceItem& item) {
  const auto own = std::ranges::lower_bound(layers, item.top);
  if (item.top >= 0 && own != layers.end() && *own == item.top) {
    return static_cast<std::size_t>(own - layers.begin());
  }
  const auto next = std::ranges::upper_bound(
      layers, item.launched, {}, [&](std::int32_t layer) { return reader.top(layer).begin; });
  return static_cast<std::size_t>(
      std::min<std::ptrdiff_t>(next - layers.begin(), std::ssize(layers) - 1));
}

// With record_shapes=True the operator that accumulates a gradient has its dimensions.
std::optional<KinetoGradient> recorded_shape(const StepReader& reader, std::int32_t node) {
  for (const Operator& op : reader.index.inside(node)) {
    const KinetoEvent& event = reader.event(op.event);
    if (event.detail >= 0 &&
        reader.recording.name(event) == std::string_view("torch::autograd::AccumulateGrad")) {
      return reader.recording.gradients[static_cast<std::size_t>(event.detail)];
    }
  }
  return std::nullopt;
}

// An all-reduce inside a gradient's node closes a bucket: it was launched when its last gradient
// was ready, so that all gradients since the last bucket are in it.
void read_collectives(const StepReader& reader, const std::map<std::int32_t, std::size_t>& gradient,
                      StepSample& sample) {
  std::size_t first = 0; // gradient not yet in a bucket
  for (const std::int32_t at : reader.index.collectives(reader.step)) {
    const Operator& op = reader.attribution.operators[static_cast<std::size_t>(at)];
    const KinetoEvent& event = reader.event(op.event);
    const KinetoCollective& call =
        reader.recording.collectives[static_cast<std::size_t>(event.detail)];
    // These calls carry no data.
    if (call.op == "wait" || call.op == "init" || call.elements < 0) {
      continue;
    }
    CollectiveSample collective{call.op, call.dtype, call.elements, 0,
                                reader.index.kernel_time(event.external_id)};
    const auto node = gradient.find(op.top);
    if (call.op != "allreduce" || node == gradient.end()) {
      sample.collectives.push_back(std::move(collective));
      continue;
    }
    // All gradients up to this one that no earlier bucket has.
    for (; first <= node->second; ++first) {
      sample.gradients[first].bucket = static_cast<std::int32_t>(sample.buckets.size());
      ++collective.gradients;
    }
    sample.buckets.push_back(std::move(collective));
  }
}

// Operators of the forward thread that a backward node matches, in start order.
std::vector<std::int32_t> matched_operators(const StepReader& reader, StepSample& sample) {
  std::vector<std::int32_t> layers;
  for (const std::int32_t node : reader.index.nodes(reader.step)) {
    if (reader.index.kind(node) == NodeKind::backward) {
      const std::int32_t layer =
          reader.index.forward_of(reader.step, reader.event(reader.top(node).event).sequence);
      ++sample.backward_nodes;
      if (layer >= 0) {
        ++sample.backward_matched;
        layers.push_back(layer);
      }
    }
  }
  std::ranges::sort(layers);
  layers.erase(std::ranges::unique(layers).begin(), layers.end());
  return layers;
}

// Backward nodes of a thread in their order: one that matches no forward operator belongs to the
// layer of the node before, and so does a gradient, which becomes ready behind its layer's node.
void read_backward(const StepReader& reader, const std::vector<std::int32_t>& layers,
                   StepSample& sample) {
  const auto last = static_cast<std::int32_t>(layers.size()) - 1;
  std::map<std::int32_t, std::int32_t> previous; // layer of the node before, by thread
  std::map<std::int32_t, std::int32_t> layer_of; // by node
  std::map<std::int32_t, std::size_t> gradient;  // position in sample.gradients, by node
  for (const std::int32_t node : reader.index.nodes(reader.step)) {
    const TopOperator& top = reader.top(node);
    std::int32_t& layer = previous.try_emplace(top.thread, last).first->second;
    if (reader.index.kind(node) == NodeKind::backward) {
      const std::int32_t match =
          reader.index.forward_of(reader.step, reader.event(top.event).sequence);
      if (match >= 0) {
        layer = static_cast<std::int32_t>(std::ranges::lower_bound(layers, match) - layers.begin());
      }
    } else {
      gradient.emplace(node, sample.gradients.size());
      sample.gradients.push_back({layer, -1, recorded_shape(reader, node)});
      ++sample.layers[static_cast<std::size_t>(layer)].gradients;
    }
    layer_of.emplace(node, layer);
  }
  for (const DeviceItem& item : reader.index.items(reader.step)) {
    if (item.work == WorkClass::backward) {
      const auto node = layer_of.find(item.top);
      const std::int32_t layer = node == layer_of.end() ? last : node->second;
      sample.layers[static_cast<std::size_t>(layer)].backward += item.duration();
    }
  }
  read_collectives(reader, gradient, sample);
}

// Without a backward pass every operator with device work is a layer.
std::vector<std::int32_t> operators_with_work(const StepReader& reader) {
  std::vector<std::int32_t> layers;
  for (const DeviceItem& item : reader.index.items(reader.step)) {
    if (item.work == WorkClass::forward && item.top >= 0) {
      layers.push_back(item.top);
    }
  }
  std::ranges::sort(layers);
  layers.erase(std::ranges::unique(layers).begin(), layers.end());
  return layers;
}

} // namespace

std::vector<StepSample> sample_steps(const KinetoRecording& recording,
                                     std::span<const KinetoStep> steps,
                                     const Attribution& attribution) {
  const KinetoIndex index(recording, steps, attribution);
  std::vector<StepSample> samples;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const StepReader reader{recording, attribution, index, i, steps[i].thread};
    // The step's layers, then the device time of each, then its gradients and buckets.
    StepSample sample;
    sample.times = step_times(reader, steps[i]);
    // Operators without parameters that backward visits are layers too: their time is real.
    std::vector<std::int32_t> layers = matched_operators(reader, sample);
    // Inference, or a profile of the forward pass alone.
    const bool forward_only = index.nodes(i).empty();
    if (forward_only) {
      layers = operators_with_work(reader);
    }
    for (const std::int32_t layer : layers) {
      sample.layers.push_back(
          {std::string(recording.name(reader.event(reader.top(layer).event))), 0, 0, 0});
    }
    if (!layers.empty()) {
      for (const DeviceItem& item : index.items(i)) {
        if (item.work == WorkClass::forward) {
          sample.layers[forward_layer(reader, layers, item)].forward += item.duration();
        }
      }
      if (!forward_only) {
        read_backward(reader, layers, sample);
      }
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

} // namespace stepsim::io
