#pragma once
// NCCL topology files (IO 8) as topologies of one machine: GPUs and network interfaces are hosts,
// CPUs, PCIe bridges and the NVSwitch are switches. Ids are bus ids, "cpu0", "net0", "nvswitch".
//
//     gpu --PCIe-- bridge --PCIe-- cpu -- every other cpu       rates: nccl_rates.hpp
//         --NVLink-- gpu, or nvswitch                           net: Mbit/s / 8
//
// A network interface with its network behind it is a switch, the network a host. A GPU with links
// to the NVSwitch has its PCIe link behind a switch of its own, "pcie:" and its bus id, so that no
// route between GPUs is shorter than by the NVSwitch. Latencies per cable are those of the options;
// the file has only that of a network, which counts unless the options give one. A link of which a
// number is assumed has the `source` "default", others "given"; each assumption is one warning.
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "files/import_options.hpp"
#include "import/nccl/nccl_rates.hpp"
#include "net/profile/profile.hpp"
#include "train/workload/trace.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

// Taken where neither the file nor the user says. Latencies are those of NCCL's cost model (LL).
inline constexpr double kPcieEfficiency = 0.76; // share of the line rate: 8 GT/s x16 = 11.97 GB/s
inline constexpr Seconds kNvlinkLatency{0.6e-6}, kPcieLatency{1.0e-6}, kNetworkLatency{2.7e-6};

struct NcclTopologyOptions {
  ImportOptions common;
  std::vector<std::string> gpus;         // bus ids in rank order; empty = what the file says
  std::optional<double> pcie_efficiency; // in kPcieEfficiencies
  PcieLink pcie_default;                 // for links without speed or width
  std::optional<Seconds> nvlink_latency, pcie_latency, network_latency; // pcie: also between CPUs
};
inline constexpr Range kPcieEfficiencies{.low = 0.01, .high = 1};

struct NcclTopology {
  net::Topology topology;
  train::Source source;
  struct Counts {
    std::int64_t cpus{}, bridges{}, gpus{}, nics{}, nets{}, nvswitches{}; // nvswitches: 0 or 1
    // NVLink or xGMI: all links of two GPUs, or of a GPU and the NVSwitch, count as one.
    std::int64_t pcie_cables{}, nvlink_cables{};
  } counts;
  std::string gpu_cable; // "NVLink cable", "xGMI cable"
};

// Throws InputError (what parse_xml and read_nccl_system throw, no GPU, a rank or dev twice),
// UsageError for a bus id of the options that the file does not have, that is given twice or that
// other devices hang on.
[[nodiscard]] NcclTopology import_nccl_topology(const std::string& file,
                                                const NcclTopologyOptions& options);

// The topology file, with its `source`.
[[nodiscard]] Json to_json(const NcclTopology& result);

} // namespace stepsim::io
