#pragma once
// Writes the shipped files of networks as text: topologies, profiles and node types, with their
// share of nominal rates.

#include "links/fabric/fabric.hpp"
#include "programs/explain/binding_path.hpp"
#include "scenario/files/network_files.hpp"

namespace stepsim::cli {

// Describes a topology for the terminal: its parameters, kinds of cables, and capacity.

// Latencies are in us, rates in GB/s (1e9 bytes/s). `note`, which may be empty, says where the
// topology comes from.
[[nodiscard]] std::string topology_text(const links::Topology& topology, const std::string& note);

// Describes a network profile for the terminal: valid ranks and sizes, latency and bandwidth per
// kind of link, measured curves of collectives, how much longer all-reduces take during training,
// and compression costs.

// Control characters in names and notes of the file are escaped.
[[nodiscard]] std::string profile_text(const links::NetworkProfile& profile);

// Describes a node type for the terminal: the inputs of the library model, with their sources.

// Control characters in names and notes of the file are escaped.
[[nodiscard]] std::string node_text(const io::NodePreset& preset);

// Ratio of the measured rate of a network to its nominal rate. A network profile has one ratio,
// bandwidth_Bps / nominal_Bps of /network. A node type has two: of the link inside a node, and of
// one network interface.

struct NominalShare {
  std::string of;                // "network", "inside" (a node) or "card" (a network interface)
  double value{}, low{}, high{}; // ratios; low and high are `value` if the file has no interval
};
// The ratios of the tree of a file of kind network_calibration or node_preset; a ratio is left out
// if a rate is missing or is not a number. The argument is a tree, because lists also show files
// that are not valid.
[[nodiscard]] std::vector<NominalShare> nominal_shares(const io::Json& tree);

// "18 % (15 to 21)", or "inside 33 % (26 to 41), card 43 % (36 to 51)"; "" if there are none.
[[nodiscard]] std::string share_text(const std::vector<NominalShare>& shares);

// {"network": {"value": 0.18, "low": 0.15, "high": 0.21}}; null if there are none.
[[nodiscard]] io::Json share_tree(const std::vector<NominalShare>& shares);

// Writes networks and programs as graphs in the language of Graphviz.

// Writes a fabric as a Graphviz graph, for `dot -Tsvg`. Hosts are ellipses in the lowest row. A
// switch is a box in row h if its nearest host is h links away. Every cable is one edge, labelled
// with its rate in Gbit/s and its latency in us, or with two values if its directions differ.

[[nodiscard]] std::string dot_text(const links::Fabric& fabric, std::string_view name);

// Writes a program as input for Graphviz (`dot -Tsvg`). Operations are boxes in the order of the
// list, with one cluster per stream. An edge leads from the awaited operation to the waiting one;
// if the awaited operation is of an earlier iteration, the edge is dashed and shows the distance.
// The binding path is drawn bold.

[[nodiscard]] std::string program_dot(const programs::Program& program,
                                      const programs::BindingPath& path, std::string_view name);

} // namespace stepsim::cli
