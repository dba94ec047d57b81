#pragma once
// The links of a node type as a network profile: its network is the fabric between nodes, which
// `"network": "dgx_h100"` of a scenario selects, and its link class is the link between GPUs, which
// `"intra_network": "dgx_h100"` selects.
#include "links/profile/profile.hpp"
#include "scenario/files/node_file.hpp"

namespace stepsim::io {

[[nodiscard]] links::NetworkProfile profile_of_node(const NodePreset& preset);

} // namespace stepsim::io
