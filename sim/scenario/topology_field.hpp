#pragma once
// The key `topology` of scenarios and lists of flows: a file name, {"file": name}, or the topology
// itself. Internal to study.
#include <optional>

#include "net/fabric/fabric.hpp"
#include "net/profile/profile.hpp"
#include "scenario/parse_context.hpp"
#include "json/reader.hpp"

namespace stepsim::study {

// Empty after a problem. `json`: neither absent nor null.
[[nodiscard]] std::optional<net::Topology> parse_topology_field(const io::Json& json,
                                                                const ParseContext& context);

// Times and rates that the packet level can count; a problem is reported at `place`.
void check_packet_links(const io::Json& place, const ParseContext& context,
                        const net::Fabric& fabric);

} // namespace stepsim::study
