#pragma once
// The keys of /cluster of a scenario: machines, network and topology.

#include "scenario/files/keys/samples_keys.hpp"
#include "scenario/keys/library_model_keys.hpp"
#include "scenario/keys/packet_keys.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study::keys {

// The hosts that ranks are placed on: packed takes them in the order of the topology, spread takes
// one host of each switch in turn (links/fabric/placement.hpp).
inline constexpr std::array<std::string_view, 2> kRankOrders{"packed", "spread"};
// Ranks are 32-bit numbers; a million of them is more than any evaluator can take.
inline constexpr double kMaxRanks = 1 << 20;

// This key is at the root of every kind of file that describes networks. A bandwidth of 10 most
// likely means 10 Gbit/s; taken as 10 bytes/s, it would give times that are wrong by eight orders
// of magnitude, with no error.
inline constexpr io::Key kAllowUnusual =
    boolean(
        "allow_unusual",
        "Accepts bandwidths below 1 kB/s or above 1e14 B/s, latencies of 10 s or more and "
        "buckets below 256 bytes for layers of 1 MB or more, which are otherwise refused, because "
        "a unit seems to be missing.")
        .by_default(false);

// The latency L of the LogGP model; latency_s is the overhead o of that model.
inline constexpr io::Key kDelay =
    number("delay_s",
           "Time from when the ports of a message are free until it is there, s: latency that "
           "holds no port. The default is 0.",
           io::at_least(0), "5e-5");

// Neither latency_s nor bandwidth_Bps has a default: they differ between kinds of nodes by more
// than a factor of ten, so that a default would silently decide the result. Files of kind
// collective have all keys but the first.
inline constexpr std::array kIntraKeys{
    word("bus", links::kBuses,
         "Kind of link between the GPUs of a machine, which says what typical conditions lose. The "
         "default is that of the profile or node type.",
         R"("nvlink")"),
    number("latency_s", "Time per message, s. Required without a calibration or preset.",
           io::at_least(0), "5e-6"),
    number("bandwidth_Bps",
           "Bytes per second and direction. Required without a calibration or preset.",
           io::above(0), "5e10"),
    kDelay,
    number("block_latency_s",
           "Time per further block of a pipelined message, s. The default is "
           "latency_s, or the value of the calibration.",
           io::at_least(0), "1e-6"),
    text("calibration",
         "File of kind network_calibration, or the name of a shipped one. Its link "
         "class nvlink, pcie or host counts, else its network; latency_s and "
         "bandwidth_Bps next to it replace its values.",
         R"("nvlink-a100")")};

// A string instead of an object is the name or file of a calibration, as for `network`.
inline constexpr std::array kIntraForms{
    object("intra_network", kIntraKeys, "The network inside a node."),
    text("intra_network", "Name or file of a calibration.", R"("nvlink-a100")")};

// A cost is either a line (startup_s, per_byte_s) or a table of measured points. Times between two
// points are interpolated; no line is fitted to the points, so that measured times are kept
// exactly.
inline constexpr std::array kCost{
    number("startup_s", "Time of an empty message, s.", io::at_least(0), "0.000908"),
    number("per_byte_s", "Time per byte, s.", io::at_least(0), "7.4e-10"), io::keys::kCostTable};

// Problem files and scenarios share this object; inline_cost reads it.
inline constexpr io::Key kCostObject =
    object("cost", kCost, "Time of one exchange by its bytes: linear, or measured points.",
           R"({"startup_s": 0.000908, "per_byte_s": 7.4e-10})")
        .exactly_one("startup_s,per_byte_s|table");

inline constexpr std::array kCostForms{
    kCostObject, text("cost", "File of kind cost.", R"("../traces/allreduce.cost.json")")};

// latency_s and bandwidth_Bps have no default. scenario_cluster.cpp checks that they are given, or
// that another key (topology, calibration, cost) replaces them. Files of kind collective have the
// keys from latency_s to calibration, too.
inline constexpr std::array kNetwork{
    word("model", kNetworkModels,
         "alpha_beta: latency and bandwidth per message; flow: links shared fairly by the messages "
         "on them; packet: every packet.")
        .by_default("alpha_beta", "messages do not disturb each other"),
    word("transport", links::kCarriers,
         "Who moves the bytes, which says what typical conditions lose; tcp_cloud is TCP between "
         "rented virtual machines. The default is that of the profile or node type.",
         R"("tcp")"),
    number("latency_s",
           "Time per message, s. Required without a topology, calibration, preset, cost or list of "
           "links.",
           io::at_least(0), "5e-5"),
    number(
        "bandwidth_Bps",
        "Bytes per second and direction of one network interface, of which a machine has "
        "nics_per_node. Required without a topology, calibration, preset, cost or list of links.",
        io::above(0), "1.25e9"),
    number("reduction_Bps", "Speed of adding, bytes/s; 0 means that adding takes no time.",
           io::at_least(0))
        .by_default(0, "adding gradients costs nothing"),
    number("block_latency_s",
           "Time per further block of a pipelined message, s. The default is latency_s, or the "
           "value of the calibration.",
           io::at_least(0), "5e-6")
        .because("as latency_s, or as a calibration measured it"),
    kDelay,
    text("calibration",
         "File of kind network_calibration, or the name of a shipped one; latency_s "
         "and bandwidth_Bps next to it replace its values.",
         R"("../topologies/10g-tcp.calibration.json")"),
    number("efficiency", "Share of the bandwidth that messages reach.", io::above_to(0, 1), "0.9")
        .by_default(1, "the whole bandwidth is used"),
    integer("copy_engines",
            "Must be 2: a rank sends and receives at the same time. 1, one of them at a time, is "
            "refused.",
            io::between(1, 2))
        .by_default(2),
    either("cost", kCostForms, "Time of one exchange by its bytes, or a file of kind cost.",
           R"({"startup_s": 0.000908, "per_byte_s": 7.4e-10})"),
    object("broadcast_cost", kCost,
           "Time of one broadcast by its bytes, beside cost, which is that of all-reduces, where "
           "zero1 gathers by broadcasts. By default it follows from cost.",
           R"({"startup_s": 0.0005, "per_byte_s": 8e-10})")
        .exactly_one("startup_s,per_byte_s|table"),
    boolean("count_headers", "Messages have the bytes on the wire instead of the payload.")
        .by_default(false),
    kPacketObject};

// A string instead of an object is the name or file of a calibration, which gives latency and
// bandwidth.
inline constexpr std::array kNetworkForms{
    object("network", kNetwork, "The network between nodes.",
           R"({"latency_s": 5e-5, "bandwidth_Bps": 1.25e9})"),
    text("network", "Name or file of a calibration.", R"("10g-tcp")")};

inline constexpr std::array kTopologyFile{
    text("file", "File of kind topology, or the name of a shipped one.", R"("star_16")")
        .required()};

// The third form is a topology written into the scenario, with the keys of a file of kind topology.
inline constexpr std::array kTopologyForms{
    text("topology", "File of kind topology, or the name of a shipped one.", R"("star_16")"),
    object("topology", kTopologyFile, "The file as an object.", R"({"file": "star_16"})"),
    object("topology", {}, "The topology itself, with the keys of a file of kind topology.",
           R"({"preset": "star", "hosts": 9, "bandwidth_Bps": 1.25e9, "latency_s": 2.5e-6})")
        .open()};

// A host is given by its name, or by its number in the order of the topology, from 0.
inline constexpr std::array kHost{any("rank_placement", "Name or number of a host.", "0")};
// A list of hosts describes a placement that a batch system has chosen.
inline constexpr std::array kPlacementForms{
    word("rank_placement", kRankOrders,
         "Nodes take the machines in their order, or one machine of each switch in turn."),
    list("rank_placement", kHost,
         "Hosts by name or number: one per node or per rank, then one per dedicated server.",
         "[0, 1, 2, 3]")};

// Keys of reductions in switches: in the NVSwitch of a node (NVLS), and in the switches of the
// network (algorithm collnet). Files of kind collective have these keys, too.
inline constexpr io::Key kNvlsRate =
    number("nvls_Bps",
           "Bytes per second that a GPU sends to a switch of its node that adds (NVLS). "
           "The default is that of the preset, else the switch does not add.",
           io::above(0), "3.09e11");
inline constexpr io::Key kNvlsStartup =
    number("nvls_startup_s", "Start-up of an operation in the switch of a node, s.",
           io::at_least(0))
        .by_default(collectives::NvlsCost{}.startup_s, "what NCCL assumes");
inline constexpr io::Key kSwitchLatency =
    number("switch_latency_s", "Time that the switches of the network take to add, s.",
           io::at_least(0))
        .by_default(collectives::kSwitchLatency, "an assumption, not a measurement");

inline constexpr std::array kNodeRanks{
    integer("ranks_per_node", "GPUs of one node.", io::between(1, kMaxRanks), "8")};
// Files of kind collective have this key, too.
inline constexpr io::Key kRanksPerNode =
    list("ranks_per_node", kNodeRanks,
         "GPUs of every node in order, where nodes differ; instead of gpus_per_node. Flat "
         "collectives and hierarchical_leader run on such nodes.",
         "[8, 8, 4]")
        .sizes(1)
        .nullable();

// `nodes` is the only key that every cluster must give.
inline constexpr std::array kCluster{
    integer("nodes", "Number of machines.", io::between(1, kMaxRanks), "16").required(),
    kPresetKey,
    integer("gpus_per_node",
            "Workers per machine; ranks are nodes times gpus_per_node. With a "
            "preset the default is its number.",
            io::between(1, kMaxRanks), "8")
        .by_default(1, "one GPU per node"),
    kRanksPerNode,
    integer("nics_per_node",
            "Network interfaces per machine, which its GPUs share; each has the bandwidth of "
            "network. With a preset the default is its number, but at most one per GPU.",
            io::between(1, kMaxRanks), "4")
        .by_default(1, "the GPUs of a node share one interface"),
    integer("gpu_memory_bytes",
            "Memory of one GPU, bytes, which a run's memory is compared with. The default is the "
            "size in the name of the workload's gpu (a100-40, a100-80), else that of the node "
            "type, else that of the gpu.",
            io::at_least(1), "80000000000"),
    integer("nvlink_domain_nodes",
            "Machines that intra_network joins: so many count as one node, for collectives and for "
            "sharding. With a preset the default is its number.",
            io::between(1, kMaxRanks), "18")
        .by_default(1),
    kNvlsRate,
    kNvlsStartup,
    kSwitchLatency,
    either("intra_network", kIntraForms,
           "Network inside a node, or the name or file of its calibration. Several GPUs per node "
           "need one, unless a calibration, a cost or a topology describes it.",
           R"({"latency_s": 5e-6, "bandwidth_Bps": 5e10})")
        .because("the link class inside a node of the calibration"),
    either("network", kNetworkForms,
           "The network between nodes, or the name or file of its calibration. One node may do "
           "without.",
           kNetworkForms.front().example_json),
    either("topology", kTopologyForms,
           "Hosts, switches and links. The default is a star of the nodes with the cables of "
           "network (half its latency each).",
           kTopologyForms.back().example_json),
    either("rank_placement", kPlacementForms,
           "Hosts of the ranks: packed in the order of the topology, spread by one machine of each "
           "switch in turn, or listed.",
           R"("spread")")
        .by_default("packed", "ranks fill one node after another")};

} // namespace stepsim::study::keys
