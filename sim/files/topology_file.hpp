#pragma once
// Topology files (kind topology): hosts, switches and full-duplex links, or a preset with its
// parameters, to and from net::Topology. Checked: ids unique, link ends known and different,
// bandwidth >= 1 B/s, every node reachable from every other.
#include "net/profile/profile.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Throws InputError with all problems found.
[[nodiscard]] net::Topology parse_topology(const Json& json);
// The file with its header. `note` and `source` of a file that was read are not in it, nor the
// warnings of a preset.
[[nodiscard]] Json to_json(const net::Topology& topology);

} // namespace stepsim::io
