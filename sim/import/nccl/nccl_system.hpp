#pragma once
// Reads an NCCL topology file (NCCL_TOPO_DUMP_FILE, or a vendor's template for NCCL_TOPO_FILE) of
// one machine: a forest of nodes below its CPUs, in document order.
//
//     <system version="1"> <cpu numaid="0" arch vendor familyid modelid>
//       <pci busid class link_speed link_width>            bridge, GPU, network interface, NVSwitch
//         <gpu dev sm rank gcn> <nvlink target count tclass/> <xgmi target count tclass/>
//                               <c2c bw (MB/s) count/>     to the CPU (Grace)
//         <nic> <net dev speed (Mbit/s) latency (us)/>
//
// Version 2 is that of RCCL, with xgmi cables between GPUs instead of nvlink. A missing number
// stays empty, as does a number that means unknown: rank, dev and sm of -1, a net's speed below 1
// and its latency of 0. There are two exceptions: a link without `count` is one cable, and CPUs
// without numaid and nets without dev are numbered in file order. Host hashes, names and guids are
// not kept. Source: IO 8; NCCL, src/graph/topo.cc.

#include "document/reader.hpp"

namespace stepsim::io {

// The possible values of a PCIe link: GT/s per lane, lanes.
inline constexpr Range kPcieSpeeds{.low = 0.1, .high = 1000};
inline constexpr Range kPcieLanes{.low = 1, .high = 64};

// device: a PCI element whose kind follows neither from its class nor from its children.
enum class NcclKind { cpu, bridge, gpu, nic, net, nvswitch, device };

struct NcclNvlink {     // one <nvlink> or <xgmi>: all links of a GPU to one target
  std::string target;   // bus id
  std::int64_t links{}; // >= 0
  bool to_switch{};     // its class is that of a switch
};

struct NcclNode {
  NcclKind kind{};
  std::string id;                    // bus id; "cpu0" by numaid, "net0" by dev
  std::int64_t line{};               // line of the file
  std::optional<std::size_t> parent; // index into NcclSystem::nodes; empty for CPUs
  // PCI: GT/s per lane and lanes; empty if the file gives none ("", "Unknown", 0, 255 lanes).
  std::optional<double> speed_GTps;
  std::optional<std::int64_t> lanes;
  // GPU
  std::optional<std::int64_t> rank, dev, sm;
  std::string gcn;  // AMD: "910", "gfx942"; empty otherwise
  double c2c_Bps{}; // of the link to its CPU beside PCIe; 0 = none
  std::vector<NcclNvlink> nvlinks;
  // net
  std::optional<double> rate_Mbps, latency_us;
  bool rate_in_kbps{}; // the file has more than 1e7, taken as kbit/s and converted
  // CPU, as written
  std::string arch, vendor;
  std::optional<std::int64_t> family, model;
};

struct NcclSystem {
  std::vector<NcclNode> nodes;                 // parents first
  bool any_class = false;                      // whether any PCI element has a class
  bool any_gpu = false;                        // whether any <gpu> is in the file
  std::int64_t renamed = 0;                    // devices whose id another one has: "5:0#2"
  std::map<std::string, std::int64_t> ignored; // elements that are not read: name -> number
};

// Returns a bus id in lower case without leading zeros, to compare it with others: ":3b:00.0" for
// "00000000:3B:00.0" and for "0000:3b:00.0".
[[nodiscard]] std::string bus_key(std::string_view bus_id);

// The largest files that are read; the limits protect against malicious ones.
inline constexpr std::size_t kMaxXmlDepth = 64;
inline constexpr std::size_t kMaxXmlElements = 65'536;

// Reads the text of a file. Throws InputError for what is no XML or too large,
// `topo.xml:14: this is not XML, says its parser: Start-end tags mismatch`, and with up to 20
// problems, such as `topo.xml:14: link_width: must be an integer in [0, 255], got "x"`, a missing
// <system>, another version, a missing bus id, a repeated one of GPUs or CPUs, and several
// machines. A network that is listed below several CPUs is read once.
[[nodiscard]] NcclSystem read_nccl_system(std::string_view text, const std::string& file);

// Bytes per second and direction of the links of a machine, from the attributes of their ends in
// NCCL's topology file.
//
//     PCIe         GT/s x lanes x 128/130 (8/10 up to 5 GT/s) / 8 x efficiency
//     NVLink       per link: below sm 70 18 GB/s, from sm 70 20, sm 86 12, from sm 100 40.1
//     xGMI         per cable: 24 GB/s, gfx90a (also written 910) 36,
//                  gfx94* and gfx95* (also written 940, 942) 48
//     between CPUs by make, from 6 GB/s (unknown, old or Arm) to 40 GB/s (Emerald Rapids)
//
// Source: IO 8; NVLink and CPUs: NCCL, src/graph/topo.h; xGMI: the same file of RCCL.
struct PcieLink {
  double speed_GTps = 8;   // per lane, in the range kPcieSpeeds
  std::int64_t lanes = 16; // in the range kPcieLanes
};
[[nodiscard]] double pcie_rate(const PcieLink& link, double efficiency);

// Rate of one NVLink; sm = compute capability x 10.
[[nodiscard]] double nvlink_rate(std::int64_t sm);

// Rate of one xGMI cable; gcn is a number or a name, with 24 GB/s for one that is not listed above.
[[nodiscard]] double xgmi_rate(std::string_view gcn);

// Rate from a CPU to every other one.
[[nodiscard]] double cpu_rate(const NcclNode& cpu);

// Finds the GPUs of a machine, their order by rank, and the targets of their NVLinks.
//
//     <nvlink target="0000:3b:00.0" count="2" tclass="0x030200"/>     to a GPU: two links
//     <nvlink target="0000:c7:00.0" count="2" tclass="0x068000"/>     to the NVSwitch
//
// As in NCCL, all NVSwitches of a machine are one: a message uses the links to all of them.
// Indices into `system.nodes` in rank order: the order of `names` (bus ids), whose nodes become
// GPUs; without names, by rank if all GPUs have one, else by dev if all have one, else as in the
// file. Throws InputError for no GPU and for a rank or dev that appears twice, and UsageError
// `--gpus X: ...`.
[[nodiscard]] std::vector<std::size_t> order_gpus(NcclSystem& system,
                                                  const std::vector<std::string>& names,
                                                  const std::string& file,
                                                  std::vector<std::string>& warnings);

struct NvlinkCounts { // keys: indices of GPUs in `system.nodes`; numbers > 0
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> pairs; // first < second
  std::map<std::size_t, std::int64_t> to_switch;
};
// Links to the GPU itself or to an unknown GPU are left out, with a warning. If both ends list a
// pair, the smaller number is taken.
[[nodiscard]] NvlinkCounts count_nvlinks(const NcclSystem& system,
                                         std::vector<std::string>& warnings);

} // namespace stepsim::io
