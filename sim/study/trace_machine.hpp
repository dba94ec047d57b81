#pragma once
// The machines on which a trace was recorded: the node type with its GPU, and how many GPUs of how
// many machines its ranks were.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "layers/trace.hpp"
#include "scenario/files.hpp"

namespace stepsim::study {

struct TraceMachine {
  std::string node_type; // a shipped node type, or a file
  std::int64_t nodes = 1, gpus_per_node = 1;
  std::vector<std::string> others; // further node types with the same GPU
  [[nodiscard]] std::int64_t gpus() const { return nodes * gpus_per_node; }
};

// The shipped node types with the GPU that the profiler named ("NVIDIA A100-SXM4-80GB"), those of
// the maker's reference design first. Empty if none has it.
[[nodiscard]] std::vector<std::string> node_types_of_gpu(const std::string& device, Files& files);

// `node_type`: the user's word; "": the first of node_types_of_gpu(). Ranks fill machine by
// machine. Empty if no node type is known, or if the ranks fill no whole number of machines.
[[nodiscard]] std::optional<TraceMachine> machine_of(const layers::Trace& trace,
                                                     const std::string& node_type, Files& files);

} // namespace stepsim::study
