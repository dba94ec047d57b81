// One table says which key belongs to which transports; the reader, the errors and the feature
// matrix (rules.hpp) ask it.
#include "scenario/packet/packet_settings.hpp"

#include "scenario/keys/packet_keys.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

namespace {

using links::TransportKind;

constexpr unsigned bit(TransportKind kind) { return 1U << static_cast<unsigned>(kind); }
constexpr unsigned kTcp = bit(TransportKind::reno) | bit(TransportKind::dctcp);
constexpr unsigned kDctcp = bit(TransportKind::dctcp);
constexpr unsigned kDlcp = bit(TransportKind::dlcp);

// Tables of keys, and for which transports they mean something.
struct TransportKeys {
  std::span<const io::Key> keys;
  unsigned kinds;
};
constexpr auto kWindowKeys = io::keys_of(keys::kWindowRows);
constexpr auto kTcpKeys = io::keys_of(keys::kTcpRows);
constexpr auto kDctcpKeys = io::keys_of(keys::kDctcpRows);
constexpr auto kLossKeys =
    io::joined_keys(io::keys_of(keys::kBoundedLossRows), io::keys_of(keys::kDlcpRows));
constexpr std::array kTransportKeys{
    TransportKeys{kWindowKeys, bit(TransportKind::window)}, TransportKeys{kTcpKeys, kTcp},
    TransportKeys{kDctcpKeys, kDctcp}, TransportKeys{kLossKeys, kDlcp}};

// {"0": 0.05, "12": 0}: layer -> bound.
// Keys are numbers of layers, which no table of rows can list.
void parse_bounds_of_layers(io::Fields& fields, const ParseContext& context, BoundedLoss& loss) {
  for (const auto& [key, value] : fields.members("loss_bound_per_layer", "{layer: bound}")) {
    const auto layer = base::parse_number<std::int64_t>(key);
    if (!layer || *layer < 0) {
      context.problems.add(*fields.any("loss_bound_per_layer"), key,
                           "must be the number of a layer, from 0");
      continue;
    }
    if (const auto bound =
            io::checked_number(value, keys::kBoundOfLayer.front().range, context.problems)) {
      loss.bound_of_layer[*layer] = *bound;
    }
  }
}

} // namespace

std::vector<std::string_view> transports_with(std::string_view key) {
  std::vector<std::string_view> names;
  for (const TransportKeys& table : kTransportKeys) {
    if (std::ranges::find(table.keys, key, &io::Key::name) == table.keys.end()) {
      continue;
    }
    for (std::size_t k = 0; k < links::kTransportKinds.all().size(); ++k) {
      if ((table.kinds >> k & 1U) != 0) {
        names.push_back(links::kTransportKinds.all()[k]);
      }
    }
  }
  return names;
}

void add_transport(const PacketSettings& settings, io::Json& tree) {
  const links::TransportOptions& transport = settings.options.transport;
  const BoundedLoss& loss = settings.bounded_loss;
  io::write_bound(keys::kTransportRows, transport, tree);
  const unsigned kind = bit(transport.kind);
  if (kind == bit(TransportKind::window)) {
    io::write_bound(keys::kWindowRows, transport, tree);
  }
  if ((kind & kTcp) != 0) {
    io::write_bound(keys::kTcpRows, transport.tcp, tree);
  }
  if ((kind & kDctcp) != 0) {
    io::write_bound(keys::kDctcpRows, transport.tcp, tree);
  }
  if ((kind & kDlcp) == 0) {
    return;
  }
  io::write_bound(keys::kBoundedLossRows, loss, tree);
  io::write_bound(keys::kDlcpRows, transport.dlcp, tree);
  if (!loss.bound_of_layer.empty()) { // in ascending order
    io::Json bounds;
    for (const auto& [layer, bound] : loss.bound_of_layer) {
      bounds.set(std::to_string(layer), bound);
    }
    tree.set("loss_bound_per_layer", std::move(bounds));
  }
}

// The keys of all transports are read, whatever the kind is, and those of others are refused by the
// table.
void parse_transport(io::Fields& fields, const ParseContext& context, PacketSettings& settings) {
  const io::Json* json = fields.given("transport");
  if (json == nullptr) {
    return;
  }
  settings.has_transport = true;
  links::TransportOptions& transport = settings.options.transport;
  if (json->is_string()) { // short for the object with defaults
    transport.kind = fields.word("transport", links::kTransportKinds, TransportKind::raw);
    return;
  }
  io::Fields own(*json, context.problems, fields.row("transport"));
  io::read_bound(keys::kTransportRows, own, transport);
  io::read_bound(keys::kWindowRows, own, transport);
  io::read_bound(keys::kTcpRows, own, transport.tcp);
  io::read_bound(keys::kDctcpRows, own, transport.tcp);
  io::read_bound(keys::kBoundedLossRows, own, settings.bounded_loss);
  parse_bounds_of_layers(own, context, settings.bounded_loss);
  io::read_bound(keys::kDlcpRows, own, transport.dlcp);
  for (const TransportKeys& table : kTransportKeys) {
    for (std::size_t k = 0; own.has("kind") && k < table.keys.size(); ++k) {
      context.needs_meaning(own, table.keys[k].name, (table.kinds & bit(transport.kind)) != 0,
                            "transport " + std::string(links::kTransportKinds[transport.kind]));
    }
  }
  own.no_more();
}

} // namespace stepsim::study
