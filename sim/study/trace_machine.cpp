#include "study/trace_study.hpp"

namespace stepsim::study {

std::vector<std::string> node_types_of_gpu(const std::string& device, Files& files) {
  const layers::PartName wanted = layers::part_name(device);
  std::vector<std::string> types;
  for (const auto& [name, path] : shipped_files(files.data_folder(), kShippedNodes)) {
    const layers::PartName has = layers::part_name(files.node(io::Json(name)).gpu);
    if (!has.part.empty() && wanted.part.starts_with(has.part) && wanted.in_slot == has.in_slot) {
      types.push_back(name);
    }
  }
  std::ranges::stable_partition(types, [](const std::string& name) {
    return name.starts_with("dgx") || name.starts_with("hgx");
  });
  return types;
}

std::optional<TraceMachine> machine_of(const layers::Trace& trace, const std::string& node_type,
                                       Files& files) {
  TraceMachine machine{.node_type = node_type, .others = {}};
  if (node_type.empty()) {
    machine.others = node_types_of_gpu(trace.device.value_or(""), files);
    if (machine.others.empty()) {
      return std::nullopt;
    }
    machine.node_type = machine.others.front();
    machine.others.erase(machine.others.begin());
  }
  const std::int64_t ranks = trace.ranks.value_or(1);
  const std::int64_t most = files.node(io::Json(machine.node_type)).node.gpus;
  machine.gpus_per_node = std::min(ranks, most);
  machine.nodes = ranks / machine.gpus_per_node;
  return machine.gpus() == ranks ? std::optional(std::move(machine)) : std::nullopt;
}

} // namespace stepsim::study
