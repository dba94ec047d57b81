#pragma once
// The keys of a topology file (kind topology): a cluster as hosts, switches and full-duplex links,
// or a preset with its parameters. Files are shipped in topologies/, `stepsim import nccl-topology`
// writes them, and users may write them by hand. /cluster/topology of a scenario and /topology of a
// flows file name a file or have the same keys; `stepsim topologies` shows a topology.
//
//     {"kind": "topology", "preset": "star", "hosts": 16, "latency_s": 1e-6, "bandwidth_Bps": 1e9}
//
// links::presets() has the parameters of each preset, and which of them are required.
#include "document/fields/schema.hpp"
#include "scenario/files/keys/source_keys.hpp"

namespace stepsim::io::keys {

// Rates and latencies of links. Packet networks have narrower bounds (check_packet_links).
[[nodiscard]] constexpr Key link_rate(std::string_view name, std::string_view sentence) {
  return number(name, sentence, between(1, 1e18)).example("1.25e9");
}
[[nodiscard]] constexpr Key link_latency(std::string_view name, std::string_view sentence) {
  return number(name, sentence, between(0, 1e6)).example("1e-6");
}
// A parameter of a preset: a number of machines, switches or ports.
[[nodiscard]] constexpr Key preset_count(std::string_view name, std::string_view sentence) {
  return integer(name, sentence, between(1, 1e7)).example("4");
}

// The words of `preset`.
[[nodiscard]] std::vector<std::string_view> preset_names();

// Two keys have two forms: in a graph they list nodes, in a preset they are numbers of nodes.
inline constexpr std::array kTopologyNode{
    text("id", "Name of the node, unique in the file.", R"("h0")").required()};
inline constexpr std::array kHostList{object("hosts", kTopologyNode, "One host.")};
inline constexpr std::array kSwitchList{object("switches", kTopologyNode, "One switch.")};
inline constexpr std::array kHostForms{
    list("hosts", kHostList, "Hosts.", R"([{"id": "h0"}])").sizes(1),
    preset_count("hosts", "Number of hosts.")};

inline constexpr std::array kTopologyLink{
    text("id", "Name of the link. The default is the names of its ends, as in h0-s0.",
         R"("uplink0")"),
    text("a", "Node at one end.", R"("h0")").required(),
    text("b", "Node at the other end.", R"("s0")").required(),
    link_latency("latency_s", "Latency, s.").required(),
    link_rate("bandwidth_Bps", "Bytes per second and direction.").required(),
    text("source", "Where the numbers come from.", R"("default")")};
inline constexpr std::array kTopologyLinks{object("links", kTopologyLink, "One link.")};

inline constexpr std::array kGpuHost{text("gpus", "Id of a host.", R"("h0")")};
inline constexpr std::array kGpuForms{
    list("gpus", kGpuHost, "Hosts in the order of the ranks.", R"(["h0", "h1"])"),
    preset_count("gpus", "Number of GPUs of a machine.")};

inline constexpr std::array kTopologySources{text("source", "A sentence.", R"("a page")"),
                                             object("source", {}, "Any object.").open()};

// Keys of graphs and of presets. The sentence of a preset parameter begins with the names of the
// presets that have it.
inline constexpr std::array kTopologyKeys{
    text("note", "Remark for people who read the file.", R"("two hosts")"),
    either("source", kTopologySources, "Where the numbers come from.", R"("vendor data sheet")"),
    kWarnings,
    either("hosts", kHostForms, "Hosts; with the presets star and ring their number.",
           R"([{"id": "h0"}])"),
    list("switches", kSwitchList, "Switches.", R"([{"id": "s0"}])"),
    list("links", kTopologyLinks, "Full-duplex links.",
         R"([{"a": "h0", "b": "h1", "latency_s": 1e-6, "bandwidth_Bps": 1.25e9}])"),
    either("gpus", kGpuForms,
           "Hosts in the order of the ranks; with the preset gpu_node the GPUs of a machine.",
           R"(["h0", "h1"])"),
    word("preset", preset_names, "Shape of the cluster, which the parameters below describe."),
    preset_count("leaves", "leaf_spine: leaf switches."),
    preset_count("hosts_per_leaf", "leaf_spine: hosts on each leaf switch."),
    preset_count("spines",
                 "leaf_spine: spine switches, each joined to every leaf. rail_optimised: switches "
                 "that join the rails; without them, traffic that changes rails crosses a "
                 "machine's NVLink."),
    preset_count("width", "torus: hosts in the first dimension."),
    preset_count("height", "torus: hosts in the second dimension."),
    preset_count("depth", "torus: hosts in the third dimension.").by_default(1),
    preset_count("ports", "fat_tree: ports k of every switch, even; there are k^3/4 hosts."),
    preset_count("groups", "dragonfly: groups, with one cable between every two."),
    preset_count("routers_per_group", "dragonfly: routers of a group, each joined to all others."),
    preset_count("hosts_per_router", "dragonfly: hosts on each router."),
    preset_count("nodes", "gpu_node, rail_optimised: machines.").by_default(1),
    preset_count("gpus_per_node", "rail_optimised: GPUs of a machine."),
    preset_count("nics_per_node",
                 "gpu_node, rail_optimised: network interfaces of a machine; GPU l of a machine "
                 "uses interface l mod nics_per_node. The default is one per GPU in "
                 "rail_optimised; in gpu_node 1, or none for a single machine."),
    link_latency("latency_s",
                 "Latency of every link of a preset, s, unless its kind of link has its own."),
    link_rate("bandwidth_Bps", "Bytes per second and direction of every link of a preset, unless "
                               "its kind of link has its own."),
    link_rate("uplink_bandwidth_Bps", "leaf_spine, rail_optimised: bytes per second from a leaf or "
                                      "rail to a spine. The default is bandwidth_Bps.")
        .example("5e9"),
    link_rate("global_bandwidth_Bps",
              "dragonfly: bytes per second between groups. The default is bandwidth_Bps.")
        .example("5e9"),
    link_latency("global_latency_s",
                 "dragonfly: latency between groups, s. The default is latency_s."),
    link_rate("nvlink_bandwidth_Bps",
              "gpu_node, rail_optimised: bytes per second and direction between a GPU and the "
              "NVLink switch. The default is bandwidth_Bps.")
        .example("4.5e11"),
    link_latency("nvlink_latency_s", "gpu_node, rail_optimised: latency between a GPU and the "
                                     "NVLink switch, s. The default is latency_s.")
        .example("3e-7"),
    link_rate("pcie_bandwidth_Bps",
              "gpu_node, rail_optimised: bytes per second and direction of a PCIe link, which "
              "joins a GPU or a network interface to a PCIe switch. The default is bandwidth_Bps.")
        .example("5e10"),
    link_latency("pcie_latency_s", "gpu_node, rail_optimised: latency of a PCIe link, s. The "
                                   "default is latency_s.")
        .example("5e-7")};

inline constexpr Key kTopology =
    object("topology", kTopologyKeys,
           "A cluster: hosts, switches and links, or a preset with its parameters.")
        .exactly_one("preset,latency_s,bandwidth_Bps|hosts,links");

[[nodiscard]] FileKind topology_file();

// The keys of a links file (kind links, COL 1): latency and bandwidth of single pairs of ranks,
// which replace --latency and --bandwidth of `stepsim collective --links` for these pairs, and
// values of single ranks. A user writes the file; only `collective` reads it. A file may describe
// more ranks than a collective has; the further ranks are ignored.
//
//     {"kind": "links", "links": [{"src": 0, "dst": 1, "latency_s": 1e-5, "bandwidth_Bps": 1e9}]}

using namespace rows;

// Ranks of the largest collective are 0 .. 2^20 - 1.
inline constexpr Range kRankRange = between(0, (1 << 20) - 1);

inline constexpr std::array kPair{
    integer("src", "Rank that sends.", kRankRange, "0").required(),
    integer("dst", "Rank that receives.", kRankRange, "1").required(),
    number("latency_s", "Time per message, s.", at_least(0), "1e-5").required(),
    number("delay_s",
           "Time from when the ports of a message are free until it is there, s: latency that "
           "holds no port.",
           at_least(0), "1e-5")
        .by_default(0),
    number("bandwidth_Bps", "Bytes per second.", above(0), "1.25e9").required()};
inline constexpr std::array kPairs{object("links", kPair, "One pair, in one direction.")};

// Lists with one number per rank of the collective.
inline constexpr std::array kRankReduction{
    number("reduction_Bps", "Speed of adding of one rank, bytes/s.", at_least(0), "0")};
inline constexpr std::array kRankEntry{
    number("enter_s", "When one rank enters, s.", at_least(0), "0.001")};
inline constexpr std::array kChainRank{integer("chain", "Rank.", kRankRange, "0")};

inline constexpr std::array kLinksKeys{
    list("links", kPairs,
         "Pairs of ranks, each in one direction. Ranks beyond those of the collective are left "
         "out, here and in the lists.",
         R"([{"src": 0, "dst": 1, "latency_s": 1e-5, "bandwidth_Bps": 1.25e9}])")
        .required(),
    list("reduction_Bps", kRankReduction,
         "Speed of adding of every rank, bytes/s; 0 means that adding takes no time.", "[0, 0]"),
    list("enter_s", kRankEntry, "When every rank enters the collective, s.", "[0, 0.001]"),
    list("chain", kChainRank, "Order of the ranks in pipelines.", "[1, 0]")};

inline constexpr Key kLinks =
    object("links", kLinksKeys, "Latency and bandwidth of single pairs of ranks.");

[[nodiscard]] FileKind links_file();

} // namespace stepsim::io::keys
