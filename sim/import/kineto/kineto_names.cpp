// Ranges of a thread nest, so that the innermost one is found from the last that began, outwards.
#include "import/kineto/kineto_names.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>

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

} // namespace stepsim::io
