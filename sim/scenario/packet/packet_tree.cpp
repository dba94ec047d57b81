// The tree has every value with its default filled in, except for thresholds: these follow from the
// bandwidth of a port and have no single value where ports differ.
#include "scenario/packet/packet_settings.hpp"

#include "document/fields/members.hpp"
#include "links/packet/thresholds.hpp"
#include "scenario/keys/packet_keys.hpp"

namespace stepsim::study {

namespace {

// null: no threshold.
io::Json threshold_tree(std::uint32_t packets) {
  return packets == links::kNoThreshold ? io::Json() : io::Json(packets);
}

// Keys that the scope does not read are left out.
// A tree that is read again must not hold keys that its scope would refuse.
io::Json buffer_tree(const links::BufferOptions& buffer) {
  io::Json tree;
  switch (buffer.scope) {
  case links::BufferScope::port:
    tree.set("scope", "port");
    if (buffer.packets == links::kNoThreshold) {
      tree.set("bytes", buffer.bytes);
    } else {
      tree.set("packets", buffer.packets);
    }
    break;
  case links::BufferScope::shared:
    tree.set("scope", "shared");
    io::set_members<&links::BufferOptions::bytes, &links::BufferOptions::alpha>(buffer, tree);
    break;
  case links::BufferScope::unlimited:
    tree.set("scope", "unlimited");
    break;
  }
  return tree;
}

// Given thresholds, and derived ones where all switch ports have one bandwidth and the port holds
// more packets: one that it hides has no effect, and given it would be warned of.
void add_thresholds(io::Json& tree, const links::PacketOptions& options,
                    const links::Fabric& fabric) {
  double low = INFINITY;
  double high = 0;
  for (const links::FabricLink& link : fabric.links) {
    if (!fabric.is_host(link.from)) {
      low = std::min(low, link.bandwidth_Bps);
      high = std::max(high, link.bandwidth_Bps);
    }
  }
  const bool known = low == high;
  const links::Thresholds at = links::thresholds(options, high);
  const std::uint32_t cap = options.buffer.scope == links::BufferScope::port
                                ? options.buffer.packets
                                : links::kNoThreshold;
  const auto shown = [&](const auto& given, std::uint32_t value) {
    return given || (known && (value < cap || value == links::kNoThreshold));
  };
  if (shown(options.mark_packets, at.mark)) {
    tree.set("mark_packets", threshold_tree(at.mark));
  }
  io::Json drop;
  if (shown(options.drop_droppable, at.droppable)) {
    drop.set("droppable", threshold_tree(at.droppable));
  }
  if (shown(options.drop_middle, at.middle)) {
    drop.set("middle", threshold_tree(at.middle));
  }
  drop.set("protected", threshold_tree(at.protected_));
  tree.set("drop_packets", std::move(drop));
}

// Links by number, whatever the file called them: the simulation knows them so.
io::Json faults_tree(const links::PacketOptions& options) {
  using links::DropOnce;
  using links::LinkLoss;
  io::Array losses =
      io::write_each(options.link_loss, io::tree_of<&LinkLoss::link, &LinkLoss::probability>);
  io::Array drops = io::write_each(options.drop_once, [](const DropOnce& drop) {
    io::Json tree = io::tree_of<&DropOnce::link, &DropOnce::seq, &DropOnce::nth>(drop);
    tree.set("flow", drop.connection);
    return tree;
  });
  return io::Object{{"link_loss", std::move(losses)}, {"drop_packets_once", std::move(drops)}};
}

} // namespace

// Background and transport are objects of their own and absent where there is none.
io::Json packet_tree(const PacketSettings& settings, const links::Fabric& fabric) {
  const links::PacketOptions& options = settings.options;
  io::Json tree;
  io::write_bound(keys::kPacketRows, options, tree);
  tree.set("queues", options.queues);
  tree.set("buffer", buffer_tree(options.buffer));
  add_thresholds(tree, options, fabric);
  tree.set("faults", faults_tree(options));
  if (settings.background.load > 0) {
    tree.set("background", background_tree(settings.background));
  }
  if (settings.has_transport) {
    io::Json transport{io::Object{}};
    add_transport(settings, transport);
    tree.set("transport", std::move(transport));
  }
  return tree;
}

} // namespace stepsim::study
