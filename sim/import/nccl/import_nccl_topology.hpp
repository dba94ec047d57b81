#pragma once
// Imports NCCL topology files (IO 8) as the topology of one machine: GPUs and network interfaces
// are hosts; CPUs, PCIe bridges and the NVSwitch are switches. Ids are bus ids, "cpu0", "net0",
// "nvswitch".
//
//     gpu --PCIe-- bridge --PCIe-- cpu -- every other cpu       rates: nccl_system.hpp
//         --NVLink-- gpu, or nvswitch                           net: Mbit/s / 8
//
// If the file has the network behind an interface, the interface is a switch and the network a
// host. The PCIe link of a GPU with links to the NVSwitch goes through an additional switch,
// "pcie:" and the bus id, so that no route between GPUs is shorter than the one through the
// NVSwitch. Latencies are per cable, from the options; the file has only the latency of a network,
// which is used unless the options give one. The `source` of a link is "default" if its latency,
// speed or width is assumed, else "given"; the share of the line rate that PCIe links reach does
// not count. Each assumption gives one warning.

#include "import/nccl/nccl_system.hpp"
#include "links/profile/profile.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

// Used if neither the file nor the user gives a value. Latencies are those of NCCL's cost model
// (LL).
inline constexpr double kPcieEfficiency = 0.76; // share of the line rate: 8 GT/s x16 = 11.97 GB/s
inline constexpr Seconds kNvlinkLatency{0.6e-6}, kPcieLatency{1.0e-6}, kNetworkLatency{2.7e-6};

struct NcclTopologyOptions {
  ImportOptions common;
  std::vector<std::string> gpus;         // bus ids in rank order; empty = the order of the file
  std::optional<double> pcie_efficiency; // in the range kPcieEfficiencies
  std::optional<PcieLink> pcie_default;  // for links without speed or width in the file
  std::optional<Seconds> nvlink_latency, pcie_latency, network_latency; // pcie: also between CPUs
};
inline constexpr Range kPcieEfficiencies{.low = 0.01, .high = 1};

struct NcclTopology {
  links::Topology topology;
  layers::Source source;
  struct Counts {
    std::int64_t cpus{}, bridges{}, gpus{}, nics{}, nets{}, nvswitches{}; // nvswitches: 0 or 1
    // NVLink or xGMI: all links between two GPUs, or of a GPU and the NVSwitch, are one cable.
    std::int64_t pcie_cables{}, c2c_cables{}, nvlink_cables{};
  } counts;
  std::string gpu_cable; // "NVLink cable", "xGMI cable"
};

// Throws InputError as read_nccl_system() does, and for no GPU or a rank or dev that
// appears twice; UsageError for a bus id in the options that the file does not have, that is given
// twice, or that has other devices below it.
[[nodiscard]] NcclTopology import_nccl_topology(const std::string& file,
                                                const NcclTopologyOptions& options);

// The topology file, with its `source`.
[[nodiscard]] Json to_json(const NcclTopology& result);

} // namespace stepsim::io
