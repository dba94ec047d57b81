#pragma once
// Reads the key `topology` of scenarios and lists of flows: a file name, {"file": name}, or the
// topology itself.
#include <optional>

#include "document/reader.hpp"
#include "links/fabric/fabric.hpp"
#include "links/profile/profile.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

// Reads the value of the key, which must not be null. Empty after a problem. Throws InputError for
// an invalid topology or file.
[[nodiscard]] std::optional<links::Topology> parse_topology_field(const io::Json& json,
                                                                  const ParseContext& context);

// Reports at `place` the first link with a latency above 1000 s or a bandwidth above 1e15 B/s:
// packet times in integer picoseconds cannot represent these.
void check_packet_links(const io::Json& place, const ParseContext& context,
                        const links::Fabric& fabric);

} // namespace stepsim::study
