#include "layers/layer_units.hpp"

namespace stepsim::layers {

namespace {

// The name up to its first part that is a number, "layer1.0" of "layer1.0.conv1"; empty without.
std::string_view block_name(std::string_view name) {
  std::size_t begin = 0;
  while (begin < name.size()) {
    const std::size_t end = std::min(name.find('.', begin), name.size());
    const std::string_view part = name.substr(begin, end - begin);
    if (!part.empty() && std::ranges::all_of(part, [](char c) { return c >= '0' && c <= '9'; })) {
      return name.substr(0, end);
    }
    begin = end + 1;
  }
  return {};
}

// Whether layer l is in another block than layer l - 1, and whether it is in any. `named` is
// names_blocks().
bool begins_block(const Workload& workload, bool named, std::size_t l) {
  return !named || block_name(workload.layers[l].name) != block_name(workload.layers[l - 1].name);
}
bool in_block(const Workload& workload, bool named, std::size_t l) {
  return !named || !block_name(workload.layers[l].name).empty();
}

} // namespace

std::vector<std::int64_t> layer_parameters(const Workload& workload) {
  std::vector<std::int64_t> parameters(workload.layers.size());
  for (const Gradient& gradient : workload.gradients) {
    parameters[gradient.layer] += gradient.bytes.value > 0 ? gradient.values() : 0;
  }
  return parameters;
}

bool names_blocks(const Workload& workload) {
  return std::ranges::any_of(
      workload.layers, [](const WorkLayer& layer) { return !block_name(layer.name).empty(); });
}

std::vector<std::int64_t> block_counts(const Workload& workload) {
  const bool named = names_blocks(workload);
  std::int64_t blocks = in_block(workload, named, 0) ? 1 : 0;
  for (std::size_t l = 1; l < workload.layers.size(); ++l) {
    blocks += begins_block(workload, named, l) && in_block(workload, named, l) ? 1 : 0;
  }
  std::vector<std::int64_t> counts{1};
  while (2 * counts.back() < blocks) {
    counts.push_back(2 * counts.back());
  }
  return counts;
}

std::vector<std::uint32_t> unit_begins(const Workload& workload, const Wrapping& wrapping) {
  const std::vector<std::int64_t> parameters = layer_parameters(workload);
  const bool named = names_blocks(workload);
  std::vector<std::uint32_t> begins{0};
  std::int64_t held = parameters.front(); // by the open unit
  std::int64_t blocks = 0;                // that ended in it
  for (std::uint32_t l = 1; l < parameters.size(); ++l) {
    bool closes = false;
    switch (wrapping.policy) {
    case WrappingPolicy::layer:
      closes = true;
      break;
    case WrappingPolicy::block:
      blocks += begins_block(workload, named, l) ? 1 : 0;
      closes = blocks == wrapping.blocks ||
               in_block(workload, named, l) != in_block(workload, named, l - 1);
      break;
    case WrappingPolicy::size:
      closes = held >= wrapping.parameters;
      break;
    case WrappingPolicy::all:
      break;
    case WrappingPolicy::count:
      closes = l % wrapping.layers == 0;
      break;
    case WrappingPolicy::optimal: // planned by the run
    case WrappingPolicy::list:
      closes = std::ranges::binary_search(wrapping.cuts, static_cast<std::int64_t>(l));
      break;
    }
    if (closes) {
      begins.push_back(l);
      held = blocks = 0;
    }
    held += parameters[l];
  }
  return begins;
}

} // namespace stepsim::layers
