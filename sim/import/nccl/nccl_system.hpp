#pragma once
// Reads an NCCL topology file (NCCL_TOPO_DUMP_FILE, or a vendor's template for NCCL_TOPO_FILE) of
// one machine: a forest of nodes below its CPUs, in document order.
//
//     <system version="1"> <cpu numaid="0" arch vendor familyid modelid>
//       <pci busid class link_speed link_width>            bridge, GPU, network interface, NVSwitch
//         <gpu dev sm rank gcn> <nvlink target count tclass/> <xgmi target count tclass/>
//         <nic> <net dev speed (Mbit/s) latency (us)/>
//
// Version 2 is that of RCCL, with xgmi cables between GPUs instead of nvlink. A missing number
// stays empty, as does a number that means unknown: rank, dev and sm of -1, a net's speed below 1
// and its latency of 0. There are two exceptions: a link without `count` is one cable, and CPUs
// without numaid and nets without dev are numbered in file order. Host hashes, names and guids are
// not kept. Source: IO 8; NCCL, src/graph/topo.cc.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "document/reader.hpp"
#include "import/nccl/xml.hpp"

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
  std::string gcn; // AMD: "910", "gfx942"; empty otherwise
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
  std::map<std::string, std::int64_t> ignored; // elements that are not read: name -> number
};

// Returns a bus id in lower case without leading zeros, to compare it with others: ":3b:00.0" for
// "00000000:3B:00.0" and for "0000:3b:00.0".
[[nodiscard]] std::string bus_key(std::string_view bus_id);

// Throws InputError with up to 20 problems, such as `topo.xml:14: link_width: must be an integer in
// [0, 255], got "x"`, a missing <system>, another version, a missing or repeated bus id, and
// several machines.
[[nodiscard]] NcclSystem read_nccl_system(const XmlElement& root, const std::string& file);

} // namespace stepsim::io
