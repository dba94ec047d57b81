#include "files/node_profile.hpp"

#include "library/node_links.hpp"

namespace stepsim::io {

net::NetworkProfile profile_of_node(const NodePreset& preset) {
  const library::NodeLinks links = library::node_links(preset.node);
  net::NetworkProfile profile;
  profile.name = preset.node.name;
  profile.note = preset.note;
  profile.latency_s = links.network_latency_s;
  profile.bandwidth_Bps = links.network_Bps;
  net::LinkClass& inner = profile.links.emplace_back();
  inner.name = library::kInnerLinks[preset.node.link];
  inner.latency_s = links.inner_latency_s;
  inner.per_byte_s = 1 / links.inner_Bps;
  return profile;
}

} // namespace stepsim::io
