#pragma once
// Node types of the tests, and operations on them in short.
#include <string_view>

#include "nccl/library_record.hpp"

namespace stepsim::nccl::testing {

inline NodeType system_of(std::string_view name, std::uint32_t gpus, double ring_GBps,
                          std::uint32_t nics, double nic_GBps, Generation generation, Host host,
                          bool in_switch, std::uint32_t domain = 1) {
  return {.name = std::string(name),
          .gpus = gpus,
          .ring_Bps = ring_GBps * 1e9,
          .nics = nics,
          .nic_Bps = nic_GBps * 1e9,
          .generation = generation,
          .host = host,
          .in_switch_reduction = in_switch,
          .domain_nodes = domain};
}

// The node types of CLU 9 on which CLU 16.1 has values.
inline NodeType system_of(std::string_view name) {
  using enum Generation;
  using enum Host;
  if (name == "dgx_h100") {
    return system_of(name, 8, 370.8, 8, 48, hopper, intel, true);
  }
  if (name == "p5") {
    return system_of(name, 8, 370.8, 8, 48, hopper, amd, true);
  }
  if (name == "dgx_a100") {
    return system_of(name, 8, 240, 8, 24, ampere, amd, false);
  }
  if (name == "p4d") {
    return system_of(name, 8, 240, 4, 12, ampere, intel, false);
  }
  if (name == "v100x4") {
    return system_of(name, 4, 120, 2, 12, volta, intel, false);
  }
  if (name == "dgx_b200") {
    return system_of(name, 8, 721.8, 8, 48, blackwell, intel, true);
  }
  return system_of("gb200_nvl72", 4, 721.8, 4, 48, blackwell, intel, true, 18);
}

inline LibraryRecord predicted(const NodeType& node, Operation operation, Shape shape, double bytes,
                               const LibraryOptions& options = {}) {
  return predict(
      {.operation = operation, .shape = shape, .bytes = bytes, .node = node, .options = options});
}

} // namespace stepsim::nccl::testing
