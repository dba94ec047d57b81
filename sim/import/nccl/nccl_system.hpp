#pragma once
// What an NCCL topology file (NCCL_TOPO_DUMP_FILE, or a vendor's template for NCCL_TOPO_FILE) says
// of one machine: a forest of nodes under its CPUs, in the order of the document.
//
//     <system version="1"> <cpu numaid="0" arch vendor familyid modelid>
//       <pci busid class link_speed link_width>            bridge, GPU, network interface, NVSwitch
//         <gpu dev sm rank gcn> <nvlink target count tclass/> <xgmi target count tclass/>
//         <nic> <net dev speed (Mbit/s) latency (us)/>
//
// Version 2 is RCCL's, with xgmi cables between GPUs in place of nvlink. Only what is written is
// read, and a number that is missing stays empty, with two exceptions: a link without `count` is
// one cable, and CPUs without numaid and nets without dev are numbered in the order of the file. A
// number that stands for unknown stays empty as well: rank, dev and sm of -1, a net's speed below 1
// and its latency of 0.
// Host hashes, names and guids are not kept. Source: IO 8; NCCL, src/graph/topo.cc.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "import/nccl/xml.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

// What a PCIe link can be: GT/s per lane, lanes.
inline constexpr Range kPcieSpeeds{.low = 0.1, .high = 1000};
inline constexpr Range kPcieLanes{.low = 1, .high = 64};

// device: a PCI element that class and children tell nothing about.
enum class NcclKind { cpu, bridge, gpu, nic, net, nvswitch, device };

struct NcclNvlink {     // or a bundle of xgmi cables
  std::string target;   // bus id
  std::int64_t links{}; // >= 0
  bool to_switch{};     // by its class
};

struct NcclNode {
  NcclKind kind{};
  std::string id;                    // bus id; "cpu0" by numaid, "net0" by dev
  std::int64_t line{};               // in the file
  std::optional<std::size_t> parent; // of the list; none for CPUs
  // PCI: GT/s per lane, lanes; empty where the file does not say ("", "Unknown", 0, 255 lanes).
  std::optional<double> speed_GTps;
  std::optional<std::int64_t> lanes;
  // GPU
  std::optional<std::int64_t> rank, dev, sm;
  std::string gcn; // AMD: "910", "gfx942"; empty otherwise
  std::vector<NcclNvlink> nvlinks;
  // net
  std::optional<double> rate_Mbps, latency_us;
  bool rate_in_kbps{}; // the file has more than 1e7: taken as kbit/s, rate_Mbps is converted
  // CPU, as written
  std::string arch, vendor;
  std::optional<std::int64_t> family, model;
};

struct NcclSystem {
  std::vector<NcclNode> nodes;                 // parents first
  bool any_class = false;                      // whether any PCI element says what it is
  std::map<std::string, std::int64_t> ignored; // elements not read, by name: how many
};

// Bus ids differ in case and in leading zeros ("00000000:3B:00.0" is "0000:3b:00.0").
[[nodiscard]] std::string bus_key(std::string_view bus_id);

// Throws InputError, up to 20 problems: `topo.xml:14: link_width: must be an integer in [0, 255],
// got "x"`; no <system>, another version, a bus id missing or twice, several machines.
[[nodiscard]] NcclSystem read_nccl_system(const XmlElement& root, const std::string& file);

} // namespace stepsim::io
