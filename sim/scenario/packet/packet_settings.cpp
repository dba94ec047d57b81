// Keys are read in groups; what two groups decide together (transport and buffer, transport and
// queue discipline) is checked after all of them. Thresholds get warnings only once everything else
// is right.

#include "scenario/packet/packet_settings.hpp"

#include "links/packet/thresholds.hpp"
#include "scenario/keys/packet_keys.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

namespace {

constexpr std::int64_t kSharedBytes = 16'000'000;

std::uint32_t whole(io::Fields& fields, std::string_view key) {
  return static_cast<std::uint32_t>(fields.integer(key));
}

// Sizes depend on each other: headers fit into a packet.
void parse_sizes(io::Fields& fields, links::PacketOptions& options) {
  io::read_bound(keys::kPacketRows, fields, options);
  const std::string mtu = std::to_string(options.mtu_wire_bytes);
  fields.refuse_if(
      options.mtu_wire_bytes < options.header_bytes + options.value_bytes, "mtu_wire_bytes",
      "no room for one value: a packet of {} bytes has a header of {}", mtu, options.header_bytes);
  fields.refuse_if(options.mtu_wire_bytes + options.wire_overhead_bytes > keys::kMostPacketBytes,
                   "wire_overhead_bytes",
                   "a packet with its overhead has at most 65535 bytes, got " + mtu + " + " +
                       std::to_string(options.wire_overhead_bytes));
  fields.refuse_if(options.control_bytes > options.mtu_wire_bytes, "control_bytes",
                   "must be at most mtu_wire_bytes ({}), got {}", mtu, options.control_bytes);
}

// Links out of the switch that has most of them.
// A shared buffer must hold something for each of them.
std::uint32_t most_ports(const links::Fabric& fabric) {
  std::vector<std::uint32_t> ports(fabric.nodes());
  std::uint32_t most = 1;
  for (const links::FabricLink& link : fabric.links) {
    most = fabric.is_host(link.from) ? most : std::max(most, ++ports[link.from]);
  }
  return most;
}

// Keys of another scope are refused and not ignored, since a limit in packets beside a shared
// buffer looks as if it held.
void parse_buffer(io::Fields& fields, const ParseContext& context, const links::Fabric& fabric,
                  links::PacketOptions& options) {
  fields.object("buffer", [&](io::Fields& buffer) {
    links::BufferOptions& result = options.buffer;
    const auto scope = buffer.word("scope", links::kBufferScopes);
    result.scope = scope;
    const bool port = scope == links::BufferScope::port;
    const bool shared = scope == links::BufferScope::shared;
    const std::string where = "buffer scope " + std::string(links::kBufferScopes[scope]);
    const auto packets = buffer.optional_integer("packets");
    const auto bytes =
        buffer.optional_integer("bytes", io::between(options.mtu_wire_bytes, 0x1p53));
    result.alpha = buffer.number("alpha");
    context.needs_meaning(buffer, "packets", port, where);
    context.needs_meaning(buffer, "bytes", port || shared, where);
    context.needs_meaning(buffer, "alpha", shared, where);
    buffer.refuse_if(port && packets && bytes, "bytes", "give either packets or bytes");
    if (port && bytes && !packets) {
      result.packets = links::kNoThreshold;
      result.bytes = *bytes;
    } else if (port) {
      result.packets = static_cast<std::uint32_t>(packets.value_or(result.packets));
    } else if (shared) {
      result.bytes = bytes.value_or(kSharedBytes);
      const std::int64_t least = std::int64_t{options.mtu_wire_bytes} * most_ports(fabric);
      buffer.refuse_if(result.bytes < least, "bytes",
                       "must hold a packet for every port of a switch ({} bytes), got {}", least,
                       result.bytes);
    }
  });
}

// A number of packets; null = none; absent = from the bandwidth.
// Three states, so that an optional of a number is not enough by itself: kNoThreshold is the number
// for none.
std::optional<std::uint32_t> threshold(io::Fields& fields, std::string_view key) {
  const io::Json* json = fields.any(key);
  if (json == nullptr) {
    return std::nullopt;
  }
  if (json->is_null()) {
    return links::kNoThreshold;
  }
  const auto value = io::checked_integer(*json, fields.row(key).range, fields.problems());
  return value ? std::optional(static_cast<std::uint32_t>(*value)) : std::nullopt;
}

// Absent thresholds follow from the bandwidth of each port, null means none.
void parse_thresholds(io::Fields& fields, links::PacketOptions& options) {
  options.mark_packets = threshold(fields, "mark_packets");
  fields.object("drop_packets", [&](io::Fields& drop) {
    options.drop_droppable = threshold(drop, "droppable");
    options.drop_middle = threshold(drop, "middle");
    options.drop_protected = threshold(drop, "protected");
  });
}

// Faults are deterministic or have a probability of their own; they test protocols.
// Losses by probability depend on the seed, losses by number do not: a test can lose one certain
// packet and follow what the transport does.
void parse_faults(io::Fields& fields, const ParseContext& context, const links::Fabric& fabric,
                  PacketSettings& settings) {
  links::PacketOptions& options = settings.options;
  fields.object("faults", [&](io::Fields& faults) {
    const auto link_of = [&](io::Fields& fault) -> links::LinkId {
      const io::Json* link = fault.any("link");
      if (link == nullptr) {
        fault.refuse("link", "required");
        return 0;
      }
      return named_or_numbered(*link, "link", fabric.link_names, fabric.links.size(),
                               context.problems)
          .value_or(0);
    };
    options.link_loss = faults.each("link_loss", [&](io::Fields& fault) {
      const links::LinkId link = link_of(fault);
      return links::LinkLoss{link, fault.number("probability")};
    });
    settings.faults_file = std::string(faults.json().file());
    options.drop_once = faults.each("drop_packets_once", [&](io::Fields& fault) {
      links::DropOnce drop{.link = link_of(fault)};
      drop.connection = whole(fault, "flow");
      drop.seq = whole(fault, "seq");
      drop.nth = whole(fault, "nth");
      return drop;
    });
  });
}

// The most packets of a port.
std::uint32_t cap_of(const links::BufferOptions& buffer) {
  return buffer.scope == links::BufferScope::port ? buffer.packets : links::kNoThreshold;
}

// The lowest and the highest rate of a port of a switch; infinite and 0 without switches.
std::pair<double, double> port_rates(const links::Fabric& fabric) {
  std::pair<double, double> rates{INFINITY, 0};
  for (const links::FabricLink& link : fabric.links) {
    if (!fabric.is_host(link.from)) {
      rates = {std::min(rates.first, link.bandwidth_Bps),
               std::max(rates.second, link.bandwidth_Bps)};
    }
  }
  return rates;
}

// PKT 13: a droppable threshold over the middle one, or one that the cap of the port hides.
void warn_of_thresholds(const links::Fabric& fabric, PacketSettings& settings) {
  const links::PacketOptions& options = settings.options;
  const auto [least_Bps, most_Bps] = port_rates(fabric);
  if (most_Bps == 0) {
    return;
  }
  const links::Thresholds at = links::thresholds(options, least_Bps);
  const std::uint32_t cap = cap_of(options.buffer);
  const auto hidden = [&](std::string_view key, std::uint32_t value) {
    if (value != links::kNoThreshold && value >= cap) {
      settings.warnings.push_back(
          fmt::format("{} {} has no effect: a port holds {} packets", key, value, cap));
    }
  };
  const links::TransportKind kind = options.transport.kind;
  if (options.mark_packets || (settings.has_transport && (kind == links::TransportKind::dctcp ||
                                                          kind == links::TransportKind::dlcp))) {
    hidden("mark_packets", at.mark);
  }
  if (options.drop_droppable) {
    hidden("drop_packets.droppable", at.droppable);
  }
  if (options.drop_middle) {
    hidden("drop_packets.middle", at.middle);
  }
  if (options.drop_protected) {
    hidden("drop_packets.protected", at.protected_);
  }
  if (at.droppable != links::kNoThreshold && at.droppable > at.middle) {
    settings.warnings.push_back("drop_packets.droppable " + std::to_string(at.droppable) +
                                " is above drop_packets.middle " + std::to_string(at.middle));
  }
}

// The tree has every value with its default filled in, except for thresholds: these follow from the
// bandwidth of a port and have no single value where ports differ.

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
  const auto [low, high] = port_rates(fabric);
  const bool known = low == high;
  const links::Thresholds at = links::thresholds(options, high);
  const std::uint32_t cap = cap_of(options.buffer);
  const auto shown = [&](const auto& given, std::uint32_t value) {
    return given || (known && (value < cap || value == links::kNoThreshold));
  };
  io::set_if(shown(options.mark_packets, at.mark), tree, "mark_packets", threshold_tree(at.mark));
  io::Json drop;
  io::set_if(shown(options.drop_droppable, at.droppable), drop, "droppable",
             threshold_tree(at.droppable));
  io::set_if(shown(options.drop_middle, at.middle), drop, "middle", threshold_tree(at.middle));
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

// Names are unique among the first `count` entries; a number counts from 0.
std::optional<std::uint32_t> named_or_numbered(const io::Json& value, std::string_view noun,
                                               const std::vector<std::string>& names,
                                               std::size_t count, io::Problems& problems) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(count);
  const std::string unknown = "unknown " + std::string(noun) + " ";
  if (value.is_string()) {
    const auto found = std::find(names.begin(), end, value.as_string());
    if (found != end) {
      return static_cast<std::uint32_t>(found - names.begin());
    }
    problems.add(value, unknown + "\"" + base::shown_value(value.as_string()) + "\"" +
                            base::did_you_mean(value.as_string(),
                                               std::vector<std::string_view>(names.begin(), end)));
    return std::nullopt;
  }
  if (!value.is_number() || value.as_double() != std::floor(value.as_double())) {
    problems.add(value, "must be the number or the name of a " + std::string(noun) + ", got " +
                            io::shown(value));
    return std::nullopt;
  }
  if (!(value.as_double() >= 0 && value.as_double() < static_cast<double>(count))) {
    problems.refuse(value, "{}{}, must be in [0, {}]", unknown, io::shown(value), count - 1);
    return std::nullopt;
  }
  return static_cast<std::uint32_t>(value.as_double());
}

// The flow level reads the block as well: it takes sizes, paths and the loss bound and ignores the
// rest.
// Warnings come last and only if all is right: a threshold above a buffer that is itself wrong
// would be noise.
PacketSettings parse_packet(const io::Json* json, const ParseContext& context,
                            const links::Fabric& fabric, std::uint32_t value_bytes) {
  PacketSettings settings;
  settings.options.value_bytes = value_bytes;
  if (json == nullptr || json->is_null()) {
    return settings;
  }
  io::Fields fields(*json, context.problems, keys::kPacketObject);
  links::PacketOptions& options = settings.options;
  parse_sizes(fields, options);
  if (const auto queues = fields.optional_integer("queues", {})) {
    if (*queues < 2 || *queues > 8) {
      fields.refuse("queues", "must be in [2, 8] (queue 0 is control), got {}", *queues);
    } else {
      options.queues = static_cast<std::uint32_t>(*queues);
    }
  }
  parse_buffer(fields, context, fabric, options);
  parse_thresholds(fields, options);
  parse_faults(fields, context, fabric, settings);
  parse_transport(fields, context, settings);
  parse_background(fields, context, fabric, settings);
  if (settings.has_transport && options.transport.kind == links::TransportKind::window &&
      options.buffer.scope != links::BufferScope::unlimited) {
    fields.refuse("buffer", "transport window needs an unlimited buffer");
  }
  if (options.transport.kind == links::TransportKind::pfabric &&
      options.queue_discipline == links::QueueDiscipline::flow_round_robin) {
    fields.refuse("queue_discipline", "must be fifo: transport pfabric has its own order at ports");
  }
  fields.no_more();
  if (context.problems.empty()) {
    warn_of_thresholds(fabric, settings);
  }
  return settings;
}

void require_transport(const io::Json& network, const ParseContext& context,
                       const PacketSettings& settings) {
  if (settings.has_transport || !context.problems.empty()) {
    return;
  }
  if (const io::Json* packet = network.find("packet"); packet != nullptr && packet->is_object()) {
    context.problems.add(*packet, "transport", "required at the packet level");
  } else {
    context.problems.add(network, "packet", "required at the packet level, with a transport");
  }
}

// Background and transport are objects of their own and absent where there is none.
io::Json packet_tree(const PacketSettings& settings, const links::Fabric& fabric) {
  const links::PacketOptions& options = settings.options;
  io::Json tree;
  io::write_bound(keys::kPacketRows, options, tree);
  tree.set("queues", options.queues);
  tree.set("buffer", buffer_tree(options.buffer));
  add_thresholds(tree, options, fabric);
  tree.set("faults", faults_tree(options));
  io::set_if(settings.background.load > 0, tree, "background",
             background_tree(settings.background));
  if (settings.has_transport) {
    io::Json transport{io::Object{}};
    add_transport(settings, transport);
    tree.set("transport", std::move(transport));
  }
  return tree;
}

} // namespace stepsim::study
