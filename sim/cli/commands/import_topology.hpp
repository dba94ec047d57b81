#pragma once
// The flags of `stepsim import nccl-topology` and its summary.
#include <string>

#include "import/nccl/import_nccl_topology.hpp"

namespace stepsim::cli {

struct TopologyFlags { // the flags as typed; "" = not given
  std::string gpus, pcie_efficiency, pcie_default, latency;
};

// The importer options of these flags; the caller sets `common`, which all importers have. Throws
// UsageError: `--latency pci=1us: unknown kind of link "pci"; did you mean "pcie"?`.
[[nodiscard]] io::NcclTopologyOptions topology_options(const TopologyFlags& flags);

// One line with the number of devices of each kind that the machine has: "m: 8 GPUs, 8 network
// interfaces, 4 CPUs, 4 PCIe bridges, 20 PCIe links".
[[nodiscard]] std::string topology_summary(const io::NcclTopology& imported);

} // namespace stepsim::cli
