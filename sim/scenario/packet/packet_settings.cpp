// Keys are read in groups; what two groups decide together (transport and buffer, transport and
// queue discipline) is checked after all of them. Thresholds get warnings only once everything else
// is right.
#include "scenario/packet/packet_settings.hpp"

#include "links/packet/ports.hpp"
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
  if (options.mtu_wire_bytes < options.header_bytes + options.value_bytes) {
    fields.refuse("mtu_wire_bytes", "no room for one value: a packet of " + mtu +
                                        " bytes has a header of " +
                                        std::to_string(options.header_bytes));
  }
  if (options.mtu_wire_bytes + options.wire_overhead_bytes > keys::kMostPacketBytes) {
    fields.refuse("wire_overhead_bytes",
                  "a packet with its overhead has at most 65535 bytes, got " + mtu + " + " +
                      std::to_string(options.wire_overhead_bytes));
  }
  if (options.control_bytes > options.mtu_wire_bytes) {
    fields.refuse("control_bytes", "must be at most mtu_wire_bytes (" + mtu + "), got " +
                                       std::to_string(options.control_bytes));
  }
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
    if (port && packets && bytes) {
      buffer.refuse("bytes", "give either packets or bytes");
    }
    if (port && bytes && !packets) {
      result.packets = links::kNoThreshold;
      result.bytes = *bytes;
    } else if (port) {
      result.packets = static_cast<std::uint32_t>(packets.value_or(result.packets));
    } else if (shared) {
      result.bytes = bytes.value_or(kSharedBytes);
      const std::int64_t least = std::int64_t{options.mtu_wire_bytes} * most_ports(fabric);
      if (result.bytes < least) {
        buffer.refuse("bytes", "must hold a packet for every port of a switch (" +
                                   std::to_string(least) + " bytes), got " +
                                   std::to_string(result.bytes));
      }
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
                  links::PacketOptions& options) {
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
    options.drop_once = faults.each("drop_packets_once", [&](io::Fields& fault) {
      links::DropOnce drop{.link = link_of(fault)};
      drop.connection = whole(fault, "flow");
      drop.seq = whole(fault, "seq");
      drop.nth = whole(fault, "nth");
      return drop;
    });
  });
}

// PKT 13: a droppable threshold over the middle one, or one that the cap of the port hides.
void warn_of_thresholds(const links::Fabric& fabric, PacketSettings& settings) {
  const links::PacketOptions& options = settings.options;
  double least_Bps = INFINITY;
  for (const links::FabricLink& link : fabric.links) {
    least_Bps = fabric.is_host(link.from) ? least_Bps : std::min(least_Bps, link.bandwidth_Bps);
  }
  if (!std::isfinite(least_Bps)) {
    return;
  }
  const links::Thresholds at = links::thresholds(options, least_Bps);
  const std::uint32_t cap = options.buffer.scope == links::BufferScope::port
                                ? options.buffer.packets
                                : links::kNoThreshold;
  const auto hidden = [&](std::string_view key, std::uint32_t value) {
    if (value != links::kNoThreshold && value >= cap) {
      settings.warnings.push_back(std::string(key) + " " + std::to_string(value) +
                                  " has no effect: a port holds " + std::to_string(cap) +
                                  " packets");
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
    problems.add(value, unknown + io::shown(value) + ", must be in [0, " +
                            std::to_string(count - 1) + "]");
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
      fields.refuse("queues",
                    "must be in [2, 8] (queue 0 is control), got " + std::to_string(*queues));
    } else {
      options.queues = static_cast<std::uint32_t>(*queues);
    }
  }
  parse_buffer(fields, context, fabric, options);
  parse_thresholds(fields, options);
  parse_faults(fields, context, fabric, options);
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
  const io::Json* packet = network.find("packet");
  if (packet != nullptr && packet->is_object()) {
    context.problems.add(*packet, "transport", "required at the packet level");
  } else {
    context.problems.add(network, "packet", "required at the packet level, with a transport");
  }
}

} // namespace stepsim::study
