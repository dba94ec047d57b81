#pragma once
// Reads and writes topology files (kind topology) as links::Topology: hosts, switches and
// full-duplex links, or a preset with its parameters. It is checked that ids are unique, the two
// ends of a link are known and different, bandwidths are >= 1 B/s, and every node can reach every
// other.
#include "document/json.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::io {

// Throws InputError with all problems.
[[nodiscard]] links::Topology parse_topology(const Json& json);
// The file with its header. links::Topology does not hold `note` and `source` of a file that was
// read, so they are not written; neither are the warnings of a preset.
[[nodiscard]] Json to_json(const links::Topology& topology);

} // namespace stepsim::io
