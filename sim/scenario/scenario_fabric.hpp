#pragma once
// Places a scenario on a network: the topology with its routes, the hosts of all ranks and servers,
// and the packet block (PKT 3, 6, 7).

#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Sets topology, places and packet block, and reports settings that a simulated network does not
// support; for alpha_beta it only takes a missing latency or bandwidth from the topology. Call it
// when all objects of the file have been read.
void resolve_fabric(const io::Json& tree, const ParseContext& context, Scenario& scenario);
// The topology with the hosts of all ranks, as rank_placement of the cluster says, then those of
// `servers` machines for parameter servers. Empty after a problem, at `at` or at the placement.
// Throws as Files::routed() does.
[[nodiscard]] std::optional<links::RankFabric> placed_on(const links::Topology& topology,
                                                         const Cluster& cluster,
                                                         std::uint32_t servers, const io::Json& at,
                                                         const ParseContext& context);
// Whether two of the first `ranks` ranks have the same host.
[[nodiscard]] bool ranks_share_hosts(const links::RankFabric& fabric, std::int64_t ranks);
// Adds the keys of the network to the tree of the resolved scenario: the model; the topology if it
// is given; the placement on a topology; count_headers for flows; the packet block for packets, and
// for flows with a transport.
void add_fabric_keys(const Cluster& cluster, io::Json& cluster_tree, io::Json& network_tree);

// Reads the key `topology` of scenarios and lists of flows: a file name, {"file": name}, or the
// topology itself.

// Reads the value of the key, which must not be null. Empty after a problem. Throws InputError for
// an invalid topology or file.
[[nodiscard]] std::optional<links::Topology> parse_topology_field(const io::Json& json,
                                                                  const ParseContext& context);

// Reports at `place` the first link with a latency above 1000 s or a bandwidth above 1e15 B/s:
// packet times in integer picoseconds cannot represent these.
void check_packet_links(const io::Json& place, const ParseContext& context,
                        const links::Fabric& fabric);

// Checks which training can run on a simulated network.

// Reports settings that the flow and packet models do not have, at their keys, such as exchange_s,
// a measured cost or a published cost form. If every message is simulated, parameter servers also
// refuse sharding, reduce_broadcast, compression other than fp16 and plain codecs, other algorithms
// than synchronous steps, and schedules without Planner::fits_networks(). Other training then
// refuses selections on a side stream, horovod with compression or with iterations that overlap,
// and dear and sharding with an algorithm that has no reduce-scatter and all-gather of its own.
void check_network_use(const io::Json& tree, const ParseContext& context, const Scenario& scenario);

} // namespace stepsim::study
