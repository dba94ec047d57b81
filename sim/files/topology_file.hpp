#pragma once
// Reads and writes topology files (kind topology) as net::Topology: hosts, switches and full-duplex
// links, or a preset with its parameters. It is checked that ids are unique, the two ends of a link
// are known and different, bandwidths are >= 1 B/s, and every node can reach every other.
#include "net/profile/profile.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Throws InputError with all problems.
[[nodiscard]] net::Topology parse_topology(const Json& json);
// The file with its header. net::Topology does not hold `note` and `source` of a file that was
// read, so they are not written; neither are the warnings of a preset.
[[nodiscard]] Json to_json(const net::Topology& topology);

} // namespace stepsim::io
