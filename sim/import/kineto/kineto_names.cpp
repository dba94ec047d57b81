// Ranges of a thread nest, so that the innermost one is found from the last that began, outwards.

#include "import/kineto/kineto_layers.hpp"

#include <unordered_map>

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

namespace {

constexpr std::string_view kModuleName = "nn.Module: ";
constexpr std::string_view kRangeMark = "##";

// "## forward ##" -> "forward".
std::string_view without_marks(std::string_view name) {
  while (name.starts_with(' ') || name.starts_with('#')) {
    name.remove_prefix(1);
  }
  while (name.ends_with(' ') || name.ends_with('#')) {
    name.remove_suffix(1);
  }
  return name;
}

// A part of the step, not of the model.
bool is_phase(std::string_view name) {
  static constexpr std::array<std::string_view, 6> kPhases{"forward", "backward", "optimizer",
                                                           "loss",    "step",     "zero_grad"};
  return std::ranges::find(kPhases, name) != kPhases.end();
}

// "aten::add_" -> "add"; a layer's name is this and a running number.
std::string_view plain_operation(std::string_view operation) {
  if (operation.starts_with("aten::")) {
    operation.remove_prefix(6);
  }
  while (operation.size() > 1 && operation.ends_with('_')) {
    operation.remove_suffix(1);
  }
  return operation;
}

std::int32_t number(std::size_t i) { return static_cast<std::int32_t>(i); }

// Sequence numbers are exact where they were recorded; profilers until 2021 have none.

// "aten::max_pool2d" -> "maxpool2d", to be compared with "MaxPool2DBackward0".
std::string plain_name(std::string_view operation) {
  if (operation.starts_with("aten::")) {
    operation.remove_prefix(6);
  }
  std::string plain = lower_case(operation);
  std::erase(plain, '_');
  return plain;
}

// "autograd::engine::evaluate_function: AddmmBackward0" -> "addmm".
std::string node_operation(std::string_view name) {
  if (name.starts_with(kBackwardPrefix)) {
    name.remove_prefix(kBackwardPrefix.size());
  }
  return plain_name(is_backward_name(name) ? name.substr(0, name.rfind("Backward")) : name);
}

struct ForwardOperator {
  Nanoseconds begin{};
  std::int32_t top{};
  std::string name; // plain_name()

  // Whether it is called `name` or `name`forward.. .
  [[nodiscard]] bool is(std::string_view operation) const {
    return name.starts_with(operation) &&
           (name.size() == operation.size() ||
            std::string_view(name).substr(operation.size()).starts_with("forward"));
  }
};

// The pointer stands behind the operators that have no node yet. It starts anew where the forward
// thread has worked between two nodes, since another forward pass has then begun. A node that has a
// layer by its number keeps it, and moves the pointer to that operator.
void match_names(const StepView& step, const std::vector<ForwardOperator>& operators, bool numbered,
                 std::vector<NodeMatch>& matches) {
  const KinetoRecording& recording = step.recording;
  std::size_t pointer = 0;
  std::size_t known = 0; // operators that began before the node
  for (NodeMatch& match : matches) {
    const TopOperator& node = step.attribution.top(match.node);
    const std::size_t before = known;
    while (known < operators.size() && operators[known].begin < node.begin) {
      ++known;
    }
    pointer = known > before ? known : pointer;
    if (match.layer >= 0) {
      const auto own = std::ranges::lower_bound(operators, match.layer, {}, &ForwardOperator::top);
      pointer = static_cast<std::size_t>(own - operators.begin());
      continue;
    }
    if (numbered && recording.event(node.event).sequence >= 0) {
      continue; // its operator is missing; one of that name would be another one
    }
    const std::string operation = node_operation(recording.name(recording.event(node.event)));
    std::size_t found = pointer; // behind the last operator of that name; 0: none
    while (found > 0 && !operators[found - 1].is(operation)) {
      --found;
    }
    if (found > 0) {
      pointer = found - 1;
      match.layer = operators[pointer].top;
    }
  }
}

} // namespace

LayerNames::LayerNames(const KinetoRecording& recording) : recording_(recording) {
  for (const KinetoEvent& event : recording.events) {
    const Range range{event.thread, event.begin, event.end(), event.name, -1};
    const std::string_view name = recording.name(event);
    if (event.category == KinetoCategory::module) {
      modules_.push_back(range);
    } else if (event.category == KinetoCategory::annotation &&
               ((name.starts_with(kRangeMark) && !is_phase(without_marks(name))) ||
                name.starts_with("Torch-Compiled Region"))) {
      annotations_.push_back(range);
    }
  }
  nest(modules_);
  nest(annotations_);
}

void LayerNames::nest(std::vector<Range>& ranges) {
  std::ranges::sort(ranges, {},
                    [](const Range& r) { return std::tuple(r.thread, r.begin, -r.end, r.name); });
  std::vector<std::int32_t> open;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    Range& range = ranges[i];
    while (!open.empty()) {
      const Range& last = ranges[static_cast<std::size_t>(open.back())];
      if (last.thread == range.thread && range.begin < last.end) {
        break;
      }
      open.pop_back();
    }
    range.outer = open.empty() ? -1 : open.back();
    open.push_back(static_cast<std::int32_t>(i));
  }
}

std::int32_t LayerNames::innermost(const std::vector<Range>& ranges, std::int32_t thread,
                                   Nanoseconds moment) const {
  const auto after =
      std::ranges::upper_bound(ranges, std::tuple(thread, moment), {},
                               [](const Range& r) { return std::tuple(r.thread, r.begin); });
  auto at = static_cast<std::int32_t>(after - ranges.begin()) - 1;
  while (at >= 0) {
    const Range& range = ranges[static_cast<std::size_t>(at)];
    if (range.thread != thread) {
      return -1;
    }
    if (moment < range.end) {
      return range.name;
    }
    at = range.outer;
  }
  return -1;
}

std::string LayerNames::at(std::int32_t thread, Nanoseconds moment) const {
  if (const std::int32_t module = innermost(modules_, thread, moment); module >= 0) {
    return recording_.names[static_cast<std::size_t>(module)].substr(kModuleName.size());
  }
  const std::int32_t annotation = innermost(annotations_, thread, moment);
  return annotation < 0
             ? ""
             : std::string(without_marks(recording_.names[static_cast<std::size_t>(annotation)]));
}

std::vector<std::string> layer_names(const std::vector<LayerSample>& samples) {
  std::map<std::string_view, int> modules;
  for (const LayerSample& sample : samples) {
    ++modules[sample.module.get()];
  }
  std::vector<std::string> names;
  std::map<std::string, int> count;
  for (const LayerSample& sample : samples) {
    const std::string operation(plain_operation(sample.operation.get()));
    const std::string& module = sample.module;
    names.push_back(module.empty()         ? operation
                    : modules[module] == 1 ? module
                                           : module + "." + operation);
    ++count[names.back()];
  }
  std::map<std::string, int> numbers;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (samples[i].module.get().empty() || count[names[i]] > 1) {
      const int number = ++numbers[names[i]];
      names[i] += "_" + std::to_string(number);
    }
  }
  return names;
}

// Operators are sorted by their outermost ones.
std::span<const Operator> StepView::inside(std::int32_t top) const {
  const auto range = std::ranges::equal_range(attribution.operators, top, {}, &Operator::top);
  return {range.begin(), range.end()};
}

std::vector<StepView> step_views(const KinetoRecording& recording,
                                 std::span<const KinetoStep> steps, const Attribution& attribution,
                                 std::span<const CollectiveCall> calls) {
  std::vector<StepView> views;
  const auto start = [&](const Operator& op) {
    return std::tuple(recording.event(op.event).thread, recording.event(op.event).begin);
  };
  const auto position = [&](std::int32_t thread, Nanoseconds moment) {
    return std::ranges::lower_bound(attribution.operators, std::tuple(thread, moment), {}, start);
  };
  for (const KinetoStep& step : steps) {
    const std::int32_t i = number(views.size());
    StepView& view = views.emplace_back(StepView{recording, attribution, step.thread});
    const auto items = std::ranges::equal_range(attribution.items, i, {}, &DeviceItem::step);
    view.items = {items.begin(), items.end()};
    const auto call = std::ranges::lower_bound(calls, step.begin, {}, &CollectiveCall::begin);
    view.calls = {call, std::find_if(call, calls.end(),
                                     [&](const CollectiveCall& each) { return each.step != i; })};
    view.operators = {position(step.thread, step.begin), position(step.thread, step.end)};
  }
  for (std::size_t i = 0; i < attribution.tops.size(); ++i) {
    const TopOperator& top = attribution.tops[i];
    const std::int32_t step = top.kind == NodeKind::none ? -1 : step_at(steps, top.begin);
    if (step >= 0) {
      views[static_cast<std::size_t>(step)].nodes.push_back(number(i));
    }
  }
  // Equal starts on different threads go by what was recorded first.
  for (StepView& view : views) {
    std::ranges::sort(view.nodes, {}, [&](std::int32_t top) {
      const KinetoEvent& event = recording.event(attribution.top(top).event);
      return std::tuple(event.begin, event.external_id, recording.name(event));
    });
  }
  return views;
}

// Autograd numbers operators as they run; a backward node has the number of its operator. The same
// number may come again in another step or on another thread: the last one within the step's
// forward counts.
std::vector<NodeMatch> match_nodes(const StepView& step) {
  std::unordered_map<std::int64_t, std::int32_t> numbered; // only looked up: top of an operator
  for (const Operator& op : step.operators) {
    const std::int64_t sequence = step.recording.event(op.event).sequence;
    if (sequence >= 0 && step.is_forward(op)) {
      numbered.insert_or_assign(sequence, op.top);
    }
  }
  std::vector<NodeMatch> matches;
  std::size_t matched = 0;
  for (const std::int32_t node : step.nodes) {
    if (step.kind(node) == NodeKind::backward) {
      const auto own =
          numbered.find(step.recording.event(step.attribution.top(node).event).sequence);
      matches.push_back({node, own == numbered.end() ? -1 : own->second});
      matched += own == numbered.end() ? 0 : 1;
    }
  }
  if (2 * matched < matches.size()) {
    std::vector<ForwardOperator> operators;
    for (const Operator& op : step.operators) {
      if (step.is_forward(op)) {
        const KinetoEvent& event = step.recording.event(op.event);
        operators.push_back({event.begin, op.top, plain_name(step.recording.name(event))});
      }
    }
    match_names(step, operators, matched > 0, matches);
  }
  return matches;
}

} // namespace stepsim::io
