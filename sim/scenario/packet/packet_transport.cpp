// One table says which key belongs to which transports; the reader, the errors and the feature
// matrix (rules.hpp) ask it.
#include "scenario/packet/packet_transport.hpp"

#include <array>
#include <charconv>

#include "document/reader.hpp"
#include "scenario/keys/packet_keys.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

namespace {

using links::TransportKind;

constexpr unsigned bit(TransportKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr unsigned kTcp = bit(TransportKind::reno) | bit(TransportKind::dctcp);
constexpr unsigned kDctcp = bit(TransportKind::dctcp);
constexpr unsigned kDlcp = bit(TransportKind::dlcp);

// Keys, and for which transports they mean something.
struct TransportKey {
  std::string_view key;
  unsigned kinds;
};
constexpr std::array kTransportKeys{TransportKey{"window_packets", bit(TransportKind::window)},
                                    TransportKey{"initial_window", kTcp},
                                    TransportKey{"dup_acks", kTcp},
                                    TransportKey{"rto_min_s", kTcp},
                                    TransportKey{"rto_initial_s", kTcp},
                                    TransportKey{"sack", kTcp},
                                    TransportKey{"restart_after_idle", kTcp},
                                    TransportKey{"g", kDctcp},
                                    TransportKey{"alpha0", kDctcp},
                                    TransportKey{"retransmissions_ect", kDctcp},
                                    TransportKey{"loss_bound_push", kDlcp},
                                    TransportKey{"loss_bound_pull", kDlcp},
                                    TransportKey{"loss_bound_per_layer", kDlcp},
                                    TransportKey{"early_stop", kDlcp},
                                    TransportKey{"priority", kDlcp},
                                    TransportKey{"priority_map", kDlcp},
                                    TransportKey{"selective_drop", kDlcp},
                                    TransportKey{"front_fraction", kDlcp},
                                    TransportKey{"large_fraction", kDlcp},
                                    TransportKey{"protect_large", kDlcp},
                                    TransportKey{"rate_control", kDlcp},
                                    TransportKey{"feedback_packets", kDlcp},
                                    TransportKey{"rate_floor", kDlcp},
                                    TransportKey{"loss_fill", kDlcp},
                                    TransportKey{"rescale", kDlcp},
                                    TransportKey{"control_lossy", kDlcp}};

// Ranges of the rows keep it within 32 bits.
std::uint32_t count(io::Fields& fields, std::string_view key) {
  return static_cast<std::uint32_t>(fields.integer(key));
}

// reno and dctcp share these; dctcp adds its estimator.
void parse_tcp(io::Fields& fields, links::TcpOptions& tcp) {
  tcp.initial_window = count(fields, "initial_window");
  tcp.duplicate_acks = count(fields, "dup_acks");
  tcp.rto_min_s = fields.number("rto_min_s");
  tcp.rto_initial_s = fields.number("rto_initial_s");
  tcp.restart_after_idle = fields.boolean("restart_after_idle");
  tcp.sack = fields.boolean("sack");
  tcp.g = fields.number("g");
  tcp.alpha0 = fields.number("alpha0");
  tcp.retransmissions_ect = fields.boolean("retransmissions_ect");
}

// {"0": 0.05, "12": 0}: layer -> bound.
// Keys are numbers of layers, which no table of rows can list.
void parse_bounds_of_layers(io::Fields& fields, const ParseContext& context, BoundedLoss& loss) {
  const io::Json* json = fields.any("loss_bound_per_layer");
  if (json == nullptr || json->is_null()) {
    return;
  }
  if (!json->is_object()) {
    context.problems.add(*json, "must be an object {layer: bound}, got " + io::shown(*json));
    return;
  }
  for (const auto& [key, value] : json->as_object()) {
    std::int64_t layer = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), layer);
    if (error != std::errc() || end != key.data() + key.size() || layer < 0) {
      context.problems.add(*json, key, "must be the number of a layer, from 0");
      continue;
    }
    if (const auto bound =
            io::checked_number(value, keys::kBoundOfLayer.front().range, context.problems)) {
      loss.bound_of_layer[layer] = *bound;
    }
  }
}

void parse_dlcp(io::Fields& fields, const ParseContext& context, links::DlcpOptions& dlcp,
                BoundedLoss& loss) {
  loss.bound_push = fields.number("loss_bound_push");
  loss.bound_pull = fields.number("loss_bound_pull");
  parse_bounds_of_layers(fields, context, loss);
  dlcp.early_stop = fields.boolean("early_stop");
  loss.priority = fields.boolean("priority");
  loss.priority_map = fields.word("priority_map", kPriorityMaps);
  loss.selective_drop = fields.boolean("selective_drop");
  loss.front_fraction = fields.number("front_fraction");
  loss.large_fraction = fields.number("large_fraction");
  loss.protect_large = fields.boolean("protect_large");
  dlcp.rate_control = fields.word("rate_control", links::kRateControls);
  dlcp.feedback_packets = count(fields, "feedback_packets");
  dlcp.rate_floor = fields.number("rate_floor");
  loss.loss_fill = fields.word("loss_fill", kLossFills);
  loss.rescale = fields.boolean("rescale");
  dlcp.control_lossy = fields.boolean("control_lossy");
}

} // namespace

std::vector<std::string_view> transports_with(std::string_view key) {
  std::vector<std::string_view> names;
  for (const TransportKey& each : kTransportKeys) {
    for (std::size_t k = 0; each.key == key && k < links::kTransportKinds.all().size(); ++k) {
      if ((each.kinds >> k & 1U) != 0) {
        names.push_back(links::kTransportKinds.all()[k]);
      }
    }
  }
  return names;
}

// The keys of all transports are read, whatever the kind is, and those of others are refused by the
// table.
void parse_transport(io::Fields& fields, const ParseContext& context, PacketSettings& settings) {
  const io::Json* json = fields.any("transport");
  if (json == nullptr || json->is_null()) {
    return;
  }
  settings.has_transport = true;
  links::TransportOptions& transport = settings.options.transport;
  if (json->is_string()) { // short for the object with defaults
    transport.kind = fields.word("transport", links::kTransportKinds, TransportKind::raw);
    return;
  }
  io::Fields own(*json, context.problems, fields.row("transport"));
  transport.kind = own.word("kind", links::kTransportKinds);
  transport.window_packets = count(own, "window_packets");
  parse_tcp(own, transport.tcp);
  parse_dlcp(own, context, transport.dlcp, settings.bounded_loss);
  if (own.has("kind")) {
    for (const TransportKey& each : kTransportKeys) {
      context.needs_meaning(own, each.key, (each.kinds & bit(transport.kind)) != 0,
                            "transport " + std::string(links::kTransportKinds[transport.kind]));
    }
  }
  own.no_more();
}

} // namespace stepsim::study
