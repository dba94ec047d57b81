#pragma once
// Links of a node type as a network profile: the fabric between nodes is its network, the link
// between GPUs a class of links. `"network": "dgx_h100"` of a scenario takes the first,
// `"intra_network": "dgx_h100"` the second.
#include "files/node_file.hpp"
#include "net/profile/profile.hpp"

namespace stepsim::io {

[[nodiscard]] net::NetworkProfile profile_of_node(const NodePreset& preset);

} // namespace stepsim::io
