#include "scenario/files/node_file.hpp"

#include "nccl/node_links.hpp"

namespace stepsim::io {

links::NetworkProfile profile_of_node(const NodePreset& preset) {
  const nccl::NodeLinks links = nccl::node_links(preset.node);
  links::NetworkProfile profile;
  profile.name = preset.node.name;
  profile.note = preset.note;
  profile.latency_s = links.network_latency_s;
  profile.bandwidth_Bps = links.network_Bps;
  links::LinkClass& inner = profile.links.emplace_back();
  inner.name = nccl::kInnerLinks[preset.node.link];
  inner.latency_s = links.inner_latency_s;
  inner.per_byte_s = 1 / links.inner_Bps;
  return profile;
}

} // namespace stepsim::io
