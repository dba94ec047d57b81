// One step to layers: a layer is an operator of the forward thread that some backward node matches.
// Device time is charged to the layer whose operator launched it; what lies between layers goes to
// the next one.
#include "import/kineto/kineto_layers.hpp"

#include <set>

namespace stepsim::io {

namespace {

// Kernels of several streams overlap: sums say how much work there was, unions how long it took. A
// gap is where the next item in order of start begins behind the end of all before.
StepTimes step_times(const StepView& step, Nanoseconds wall) {
  StepTimes times;
  times.wall = wall;
  std::vector<const DeviceItem*> order;
  for (const DeviceItem& item : step.items) {
    order.push_back(&item);
    times.work[static_cast<std::size_t>(item.work)] += item.duration();
    if (item.work == WorkClass::backward && step.kind(item.top) == NodeKind::gradient) {
      times.gradient_nodes += item.duration();
    }
  }
  std::ranges::sort(order, {},
                    [](const DeviceItem* item) { return std::tuple(item->begin, item->launched); });
  const Nanoseconds begin = order.empty() ? 0 : order.front()->begin;
  Nanoseconds until = begin; // end of all items so far
  Nanoseconds compute_until = begin;
  for (const DeviceItem* item : order) {
    if (item->begin > until && (item->launched > until - kLateLaunch || item->launch_end > until)) {
      times.launch_idle += item->begin - until;
    }
    const auto cover = [item](Nanoseconds& covered, Nanoseconds& last) {
      covered += std::max<Nanoseconds>(item->end - std::max(item->begin, last), 0);
      last = std::max(last, item->end);
    };
    cover(times.busy, until);
    if (item->work != WorkClass::communication) {
      cover(times.compute_busy, compute_until);
    }
  }
  times.span = until - begin;
  return times;
}

// Position of the layer that a forward item counts for: its own operator's, else the next layer's,
// behind the last layer the last one's. `layers` are tops of the forward thread in start order.
std::size_t forward_layer(const StepView& step, const std::vector<std::int32_t>& layers,
                          const DeviceItem& item) {
  const auto own = std::ranges::lower_bound(layers, item.top);
  if (item.top >= 0 && own != layers.end() && *own == item.top) {
    return static_cast<std::size_t>(own - layers.begin());
  }
  const auto next = std::ranges::upper_bound(layers, item.launched, {}, [&](std::int32_t layer) {
    return step.attribution.top(layer).begin;
  });
  return static_cast<std::size_t>(
      std::min<std::ptrdiff_t>(next - layers.begin(), std::ssize(layers) - 1));
}

// What the operator inside a gradient's node says of its input.
enum class Recorded { nothing, undefined, shape };
struct RecordedInput {
  Recorded state = Recorded::nothing;
  std::optional<KinetoTensor> shape;
};

// Where types were recorded, an input without a type was no tensor: there was no gradient.
RecordedInput recorded_input(const StepView& step, std::int32_t node) {
  for (const Operator& op : step.inside(node)) {
    const KinetoEvent& event = step.recording.event(op.event);
    if (event.detail < 0 ||
        step.recording.name(event) != std::string_view("torch::autograd::AccumulateGrad")) {
      continue;
    }
    const KinetoInputs& inputs = step.recording.inputs[static_cast<std::size_t>(event.detail)];
    auto found =
        std::ranges::find_if(inputs, [](const KinetoTensor& t) { return !t.shape.empty(); });
    if (found == inputs.end()) { // a scalar
      found = std::ranges::find_if(inputs, [](const KinetoTensor& t) { return t.elements > 0; });
    }
    return found != inputs.end() ? RecordedInput{Recorded::shape, *found}
           : inputs.empty()      ? RecordedInput{Recorded::undefined, std::nullopt}
                                 : RecordedInput{};
  }
  return {};
}

// An all-reduce inside a gradient's node closes a bucket: it was launched when its last gradient
// was ready. Those inside a compiled graph carry the gradients of the graph, whose nodes follow it;
// those inside other backward nodes belong to the node (batch normalization over all ranks).
// `layer_of` has the layer of each backward node.
void read_collectives(const StepView& step, const std::map<std::int32_t, std::int32_t>& layer_of,
                      StepSample& sample) {
  std::map<std::int32_t, std::vector<std::size_t>> graphs; // buckets inside a graph, by its layer
  for (const CollectiveCall& call : step.calls) {
    if (carries_bucket(step.recording, step.attribution, call)) {
      if (step.kind(call.top) == NodeKind::backward) { // a compiled graph
        graphs[layer_of.at(call.top)].push_back(sample.buckets.size());
      }
      sample.buckets.push_back({call, 0});
    } else {
      sample.collectives.push_back({call, 0});
    }
  }
  // A gradient's bucket is the first one that was launched in its node or later, or one inside its
  // graph. Of several of unknown sizes, or as many as gradients, each carries as many gradients as
  // the others; known sizes tell more, and all gradients are candidates of the first.
  std::map<std::int32_t, std::size_t> seen; // gradients of a graph
  for (GradientSample& gradient : sample.gradients) {
    if (const auto graph = graphs.find(gradient.layer); graph != graphs.end()) {
      const auto all = static_cast<std::size_t>(
          sample.layers[static_cast<std::size_t>(gradient.layer)].gradients);
      const std::vector<std::size_t>& inside = graph->second;
      const bool sized = std::ranges::all_of(
          inside, [&](std::size_t b) { return sample.buckets[b].call.elements >= 0; });
      const std::size_t place = seen[gradient.layer]++;
      const std::size_t b =
          inside[!sized || all == inside.size() ? place * inside.size() / all : 0];
      gradient.bucket = static_cast<std::int32_t>(b);
      ++sample.buckets[b].gradients;
      continue;
    }
    for (std::size_t b = 0; b < sample.buckets.size(); ++b) {
      const CollectiveCall& call = sample.buckets[b].call;
      const Nanoseconds node = call.top < 0 ? call.begin : step.attribution.top(call.top).begin;
      if (gradient.begin <= node) {
        gradient.bucket = static_cast<std::int32_t>(b);
        ++sample.buckets[b].gradients;
        break;
      }
    }
  }
}

std::vector<std::int32_t> sorted_without_repeats(std::vector<std::int32_t> tops) {
  std::ranges::sort(tops);
  tops.erase(std::ranges::unique(tops).begin(), tops.end());
  return tops;
}

// Operators of the forward thread that a backward node matches, in start order.
std::vector<std::int32_t> matched_operators(const std::vector<NodeMatch>& matches,
                                            StepSample& sample) {
  std::vector<std::int32_t> layers;
  for (const NodeMatch& match : matches) {
    ++sample.backward_nodes;
    if (match.layer >= 0) {
      ++sample.backward_matched;
      layers.push_back(match.layer);
    }
  }
  return sorted_without_repeats(std::move(layers));
}

// Backward nodes of a thread in their order: one that matches no forward operator belongs to the
// layer of the node before, and so does a gradient, which becomes ready behind its layer's node.
void read_backward(const StepView& step, const std::vector<NodeMatch>& matches,
                   const std::vector<std::int32_t>& layers, StepSample& sample) {
  const auto last = static_cast<std::int32_t>(layers.size()) - 1;
  std::map<std::int32_t, std::int32_t> previous; // layer of the node before, by thread
  std::map<std::int32_t, std::int32_t> layer_of; // by node
  std::size_t next = 0;                          // match
  struct Node {
    std::int32_t thread{};
    RecordedInput input;
    GradientSample gradient;
  };
  std::vector<Node> gradients;
  for (const std::int32_t node : step.nodes) {
    const TopOperator& top = step.attribution.top(node);
    std::int32_t& layer = previous.try_emplace(top.thread, last).first->second;
    if (step.kind(node) == NodeKind::backward) {
      if (const std::int32_t match = matches[next++].layer; match >= 0) {
        layer = static_cast<std::int32_t>(std::ranges::lower_bound(layers, match) - layers.begin());
      }
    } else {
      RecordedInput input = recorded_input(step, node);
      GradientSample gradient{.layer = layer, .begin = top.begin};
      if (input.shape) {
        gradient.shape = SharedTensor(*input.shape);
      }
      gradients.push_back({top.thread, std::move(input), gradient});
    }
    layer_of.emplace(node, layer);
  }
  const bool elsewhere =
      std::ranges::any_of(gradients, [&](const Node& n) { return n.thread != step.thread; });
  for (const Node& node : gradients) {
    const bool calling_thread = elsewhere && node.thread == step.thread;
    if (node.input.state == Recorded::undefined ||
        (node.input.state == Recorded::nothing && calling_thread)) {
      ++sample.undefined;
      continue;
    }
    ++sample.layers[static_cast<std::size_t>(node.gradient.layer)].gradients;
    sample.gradients.push_back(node.gradient);
  }
  for (const DeviceItem& item : step.items) {
    if (item.work == WorkClass::backward) {
      const auto node = layer_of.find(item.top);
      const std::int32_t layer = node == layer_of.end() ? last : node->second;
      sample.layers[static_cast<std::size_t>(layer)].backward += item.duration();
    }
  }
  read_collectives(step, layer_of, sample);
}

// The operator of a layer that takes parameters: the outermost one inside it.
KinetoInputs parameters_of(const StepView& step, std::int32_t layer) {
  KinetoInputs parameters;
  for (const Operator& op : step.inside(layer)) {
    const KinetoEvent& event = step.recording.event(op.event);
    const std::span<const int> positions = parameter_inputs(step.recording.name(event));
    if (positions.empty() || event.detail < 0) {
      continue;
    }
    const KinetoInputs& inputs = step.recording.inputs[static_cast<std::size_t>(event.detail)];
    for (const int position : positions) {
      if (static_cast<std::size_t>(position) < inputs.size() &&
          inputs[static_cast<std::size_t>(position)].elements > 0) {
        parameters.push_back(inputs[static_cast<std::size_t>(position)]);
      }
    }
    break;
  }
  return parameters;
}

// Activation checkpointing runs the forward operators again, inside backward nodes. Operators
// without work on the device, such as views, are a part of the formulas of derivatives, too.
void find_recomputation(const StepView& step, StepSample& sample) {
  std::set<std::string_view> kinds;
  for (const LayerSample& layer : sample.layers) {
    if (layer.forward > 0) {
      kinds.insert(layer.operation.get());
    }
  }
  std::set<std::string_view> again;
  std::vector<HostInterval> runs;
  for (const std::int32_t node : step.nodes) {
    if (step.kind(node) != NodeKind::backward) {
      continue;
    }
    for (const Operator& op : step.inside(node)) {
      const KinetoEvent& event = step.recording.event(op.event);
      const auto kind = kinds.find(step.recording.name(event));
      if (kind == kinds.end()) {
        continue;
      }
      again.insert(*kind);
      if (runs.empty() || runs.back().thread != event.thread || event.begin >= runs.back().end) {
        runs.push_back({event.thread, event.begin, event.end()});
      }
    }
  }
  sample.recomputes = 2 * again.size() > kinds.size();
  if (!sample.recomputes) {
    return;
  }
  std::ranges::sort(runs, {}, [](const HostInterval& i) { return std::tuple(i.thread, i.begin); });
  for (const DeviceItem& item : step.items) {
    if (item.work == WorkClass::backward &&
        IntervalSearch(runs).at(item.thread, item.launched) >= 0) {
      sample.recomputed += item.duration();
    }
  }
}

// All items of a graph have one launch.
std::int64_t graph_launches(std::span<const DeviceItem> items) {
  std::set<std::pair<std::int32_t, Nanoseconds>> launches;
  for (const DeviceItem& item : items) {
    if (item.in_graph) {
      launches.emplace(item.thread, item.launched);
    }
  }
  return std::ssize(launches);
}

// Without a backward pass every operator with device work is a layer.
std::vector<std::int32_t> operators_with_work(const StepView& step) {
  std::vector<std::int32_t> layers = base::collected_if<std::int32_t>(
      step.items,
      [](const DeviceItem& item) { return item.work == WorkClass::forward && item.top >= 0; },
      &DeviceItem::top);
  return sorted_without_repeats(std::move(layers));
}

} // namespace

std::vector<StepSample> sample_steps(const KinetoRecording& recording,
                                     std::span<const KinetoStep> steps,
                                     const Attribution& attribution,
                                     std::span<const CollectiveCall> calls) {
  const LayerNames names(recording);
  std::vector<StepSample> samples;
  for (const StepView& step : step_views(recording, steps, attribution, calls)) {
    const KinetoStep& interval = steps[samples.size()];
    // The step's layers, then the device time of each, then its gradients and buckets.
    StepSample sample;
    sample.times = step_times(step, interval.end - interval.begin);
    for (const DeviceItem& item : step.items) {
      sample.graph_time += item.in_graph ? item.duration() : 0;
    }
    sample.graph_launches = graph_launches(step.items);
    sample.forward_operators = std::ranges::count_if(
        step.operators, [&](const Operator& op) { return step.is_forward(op); });
    // Operators without parameters that backward visits are layers too: their time is real.
    const std::vector<NodeMatch> matches = match_nodes(step);
    std::vector<std::int32_t> layers = matched_operators(matches, sample);
    // Inference, or a profile of the forward pass alone.
    const bool forward_only = step.nodes.empty();
    sample.backward_begin =
        forward_only ? interval.end : step.attribution.top(step.nodes.front()).begin;
    if (forward_only) {
      layers = operators_with_work(step);
    }
    for (const std::int32_t layer : layers) {
      const KinetoEvent& event = step.recording.event(step.attribution.top(layer).event);
      LayerSample& added = sample.layers.emplace_back();
      added.operation = std::string(recording.name(event));
      added.module = names.at(event.thread, event.begin);
      added.begin = event.begin;
      added.parameters = parameters_of(step, layer);
    }
    if (!layers.empty()) {
      for (const DeviceItem& item : step.items) {
        if (item.work == WorkClass::forward) {
          sample.layers[forward_layer(step, layers, item)].forward += item.duration();
        }
      }
      if (!forward_only) {
        read_backward(step, matches, layers, sample);
        find_recomputation(step, sample);
      }
    }
    // Samples of thousands of steps are kept.
    sample.layers.shrink_to_fit();
    sample.gradients.shrink_to_fit();
    sample.buckets.shrink_to_fit();
    sample.collectives.shrink_to_fit();
    samples.push_back(std::move(sample));
  }
  return samples;
}

} // namespace stepsim::io
