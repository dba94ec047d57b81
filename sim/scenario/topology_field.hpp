#pragma once
// The key `topology` of scenarios and lists of flows: a file name, {"file": name}, or the topology
// itself. Internal to study.
#include <optional>

#include "net/fabric/fabric.hpp"
#include "net/profile/profile.hpp"
#include "scenario/parse_context.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// Empty after a problem. Throws InputError for a topology or a file that is wrong in itself.
// `json`: neither absent nor null.
[[nodiscard]] std::optional<net::Topology> parse_topology_field(const io::Json& json,
                                                                const ParseContext& context);

// Reports at `place` the first link above 1000 s or 1e15 B/s, which packet times in integer
// picoseconds cannot hold.
void check_packet_links(const io::Json& place, const ParseContext& context,
                        const net::Fabric& fabric);

} // namespace stepsim::study
