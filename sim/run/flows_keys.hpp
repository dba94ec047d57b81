#pragma once
// The keys of a file of kind flows (PKT 7.1). The packet block and the topology have the same keys
// as in a scenario.

#include "run/flows_run.hpp"
#include "scenario/files/keys/topology_keys.hpp"
#include "scenario/keys/cluster_keys.hpp"

namespace stepsim::study::keys {

// Upper bounds of keys. They are doubles because JSON numbers are compared as doubles.
inline constexpr double kMostPacketsOfFlow = 0x1p31;
inline constexpr double kMostPeriod = 1e9; // protect/every, packets
inline constexpr double kMostPaths = 1e9;  // via, the number of a path

inline constexpr std::array kFlowHostForms{
    integer("host", "Number of the host.", io::at_least(0), "0"),
    text("host", "Name of the host.", R"("h0")")};

inline constexpr std::array kProtectKeys{
    integer("every", "Period of protected packets.", io::between(1, kMostPeriod), "2").required(),
    integer("offset", "Packets with number mod every = offset are protected; below every.")
        .in(io::between(0, kMostPeriod))
        .by_default(0)};

inline constexpr std::array kPathLinks{either("path", kLink, "A link, by number or name.", "0")};

// The keys that single and generated flows share.
inline constexpr std::array kFlowTraits{
    integer("size_bytes", "Bytes of a flow. Either this or packets is given.",
            io::between(0, io::kMostExact), "65536"),
    integer("packets", "Full packets of a flow, instead of size_bytes.",
            io::between(0, kMostPacketsOfFlow), "1000"),
    number("start_s", "When the flow starts, s.", io::between(0, links::kMostSeconds), "0.001")
        .by_default(0),
    integer("priority",
            "Queue of the flow; queue 1 is served first. It is below queues of the packet block.")
        .in(io::between(1, 7))
        .by_default(1),
    number("weight", "Share of a link in proportion to the other flows, at the flow level.",
           io::above(0), "2")
        .by_default(1),
    number("rate_cap_Bps",
           "Highest rate of the flow, bytes/s, at the flow level. The default is none.",
           io::above(0), "2.5e8"),
    object("protect", kProtectKeys,
           "Which packets are protected, at the packet level; the others are droppable. The "
           "default is all.",
           R"({"every": 2})")};

// A single flow names its two hosts. The network chooses its path unless `via` or `path` is given.
inline constexpr std::array kSingleFlowKeys{
    either("src", kFlowHostForms, "Host that sends, by number or name.", "0").required(),
    either("dst", kFlowHostForms, "Host that receives, by number or name.", "4").required(),
    integer("via",
            "Number of the spine that the flow crosses in a leaf-spine; in other topologies the "
            "choice at every switch among its links on shortest paths.",
            io::between(0, kMostPaths), "0"),
    list("path", kPathLinks, "Links one after the other from src to dst, instead of via.",
         "[0, 16, 19, 9]")};

inline constexpr std::array kGeneratedFlowsKeys{
    word("generate", kFlowRules,
         "incast: hosts 0 to senders - 1 send to host senders; permutation: every host sends to "
         "one host and receives from one; all_to_all: every host sends to every other.")
        .required(),
    integer("senders", "Sending hosts of an incast, which needs the key.", io::at_least(1), "8")};

inline constexpr io::Key kSingleFlow =
    object("flow", kSingleFlowKeys, "One flow.", R"({"src": 0, "dst": 4, "size_bytes": 1460000})")
        .and_also(kFlowTraits)
        .exactly_one("size_bytes|packets");

inline constexpr io::Key kGeneratedFlows =
    object("flows", kGeneratedFlowsKeys, "Flows that a rule makes.",
           R"({"generate": "incast", "senders": 8, "size_bytes": 65536})")
        .and_also(kFlowTraits)
        .exactly_one("size_bytes|packets");

inline constexpr std::array kFlowForms{kSingleFlow, kGeneratedFlows};
inline constexpr std::array kFlowEntry{either("flows", kFlowForms, "One flow, or many by a rule.")};

// A topology is a file (its name, or an object with its name) or the keys of a file of kind
// topology themselves.
inline constexpr std::array kFlowTopologyForms{
    kTopologyForms[0], kTopologyForms[1],
    io::keys::kTopology.and_also(io::kHeaderKeys).example(kTopologyForms.back().example_json)};

// Every key has a default, so that the block may be missing: the flows then run at the flow level.
inline constexpr std::array kFlowNetwork{
    word("model", kNetworkLevels,
         "flow: links are shared fairly by the flows on them; packet: every packet.")
        .by_default("flow"),
    boolean("count_headers",
            "Flows have the bytes on the wire instead of the payload, at the flow level.")
        .by_default(false),
    kPacketObject};

inline constexpr std::array kFlowLimits{
    number("simulated_s", "Longest simulated time, s; a run that needs longer is an error.",
           io::above_to(0, links::kMostSeconds), "10")
        .by_default(1000)};

inline constexpr std::array kFlowsKeys{
    either("topology", kFlowTopologyForms, "Hosts, switches and links.",
           kTopologyForms.back().example_json)
        .required(),
    object("network", kFlowNetwork, "How flows share the network.",
           R"({"model": "packet", "packet": {"transport": "dctcp"}})"),
    list("flows", kFlowEntry, "Flows. The id of a flow is its place in the expanded list, from 0.",
         R"([{"src": 0, "dst": 4, "size_bytes": 1460000}])")
        .required(),
    number("start_jitter_s", "Every start is later by a random part of this time, s.",
           io::between(0, links::kMostSeconds), "5e-6")
        .by_default(0),
    integer("seed", "Seed of paths, permutations, jitter and random losses.")
        .in(io::between(0, io::kMostExact))
        .by_default(1),
    object("limits", kFlowLimits, "Bounds of a run.", R"({"simulated_s": 10})"),
    kAllowUnusual};

inline constexpr io::Key kFlows =
    object("flows", kFlowsKeys, "Flows through a network: when is each complete?");

// Examples are part of the schema and are checked against it: an incast at the packet level, and a
// permutation on a shipped topology.
inline constexpr std::array<std::string_view, 2> kFlowsFileExamples{
    R"({"schema_version": 1, "kind": "flows", "topology": "star_16", "network": {"model": "packet", "packet": {"transport": "dlcp"}}, "flows": [{"generate": "incast", "senders": 8, "size_bytes": 65536}]})",
    R"({"schema_version": 1, "kind": "flows", "topology": "leaf_spine_144", "flows": [{"generate": "permutation", "size_bytes": 1000000}], "start_jitter_s": 5e-6, "seed": 7})"};
inline constexpr io::FileKind kFlowsFile{"flows", &kFlows, kFlowsFileExamples};

} // namespace stepsim::study::keys
