// One table says which key belongs to which transports; the reader, the errors and the feature
// matrix (rules.hpp) ask it.
// Urgency and tolerance of a layer as queue and drop class: what the next forward pass needs first
// goes first, and what training can do without is dropped first.
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

// `background` of the packet block (PKT 7.5).

// [[bytes, F], ...]: both ascending, the last F is 1.
// Shares rise strictly; two rows may have the same bytes, which makes a jump of the distribution.
std::vector<std::pair<double, double>> parse_cdf(io::Fields& fields, io::Problems& problems) {
  std::vector<std::pair<double, double>> cdf;
  const auto rows = fields.array("cdf", false);
  for (const io::Json& row : rows) {
    if (!row.is_array() || row.as_array().size() != 2) {
      problems.add(row, "must be [bytes, F], got " + io::shown(row));
      return {};
    }
    const auto bytes =
        io::checked_number(row.as_array()[0], io::between(0, keys::kMostFlowBytes), problems);
    const auto part = io::checked_number(row.as_array()[1], io::between(0, 1), problems);
    if (!bytes || !part) {
      return {};
    }
    if (!cdf.empty() && (*bytes < cdf.back().first || *part <= cdf.back().second)) {
      problems.add(row, "must be above the row before, in bytes and in F");
      return {};
    }
    cdf.emplace_back(*bytes, *part);
  }
  if (cdf.empty() || cdf.back().second != 1) {
    problems.refuse(rows.empty() ? *fields.any("cdf") : rows.back(), "the last F must be 1{}",
                    cdf.empty() ? "" : ", got " + base::shortest(cdf.back().second));
    return {};
  }
  return cdf;
}

// A host that would get more than its links carry: the queue before it would grow without end.
// Every host sends to all others alike, at `load` of its fastest link: host h gets load times the
// sum of what the others can send, divided by their number.
std::optional<links::NodeId> overloaded(const links::Fabric& fabric, double load) {
  std::vector<double> out(fabric.hosts, 0); // of the fastest link, as the background counts it
  std::vector<double> in(fabric.hosts, 0);
  for (const links::FabricLink& link : fabric.links) {
    if (fabric.is_host(link.from)) {
      out[link.from] = std::max(out[link.from], link.bandwidth_Bps);
    }
    if (fabric.is_host(link.to)) {
      in[link.to] += link.bandwidth_Bps;
    }
  }
  const double all = base::sum_of<double>(out);
  for (links::NodeId host = 0; host < fabric.hosts && fabric.hosts > 1; ++host) {
    if (load * (all - out[host]) / (fabric.hosts - 1) >= in[host]) {
      return host;
    }
  }
  return std::nullopt;
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

// Ports of pfabric serve the smallest remaining size first, which needs a size in every packet:
// either all flows have that transport or none. A single size is a distribution with one step.
void parse_background(io::Fields& fields, const ParseContext& context, const links::Fabric& fabric,
                      PacketSettings& settings) {
  fields.object("background", [&](io::Fields& own) {
    links::BackgroundOptions& background = settings.background;
    background.load = own.number("load");
    if (const auto host = overloaded(fabric, background.load)) {
      own.refuse("load",
                 "host " + fabric.node_names[*host] + " would be sent more than its links carry");
    }
    const links::TransportKind main = settings.options.transport.kind;
    const bool ordered = main == links::TransportKind::pfabric; // ports serve by remaining size
    background.transport = *links::kTransportKinds.find(own.word_or(
        "transport", links::kTransportKinds[ordered ? main : links::TransportKind::dctcp]));
    own.refuse_if(ordered != (background.transport == links::TransportKind::pfabric) &&
                      settings.has_transport,
                  "transport", "pfabric changes the ports: all flows have it, or none");
    // A window of fixed size knows no losses and would wait for a lost packet for ever.
    own.refuse_if(background.transport == links::TransportKind::window &&
                      settings.options.buffer.scope != links::BufferScope::unlimited,
                  "transport", "transport window needs an unlimited buffer");
    if (own.has("size_bytes") == own.has("cdf")) {
      own.refuse(own.has("cdf") ? "cdf" : "size_bytes", "required: either size_bytes or cdf");
      (void)own.any("size_bytes");
      (void)own.any("cdf");
    } else if (own.has("size_bytes")) {
      background.cdf = {{own.required_number("size_bytes"), 1.0}};
    } else {
      background.cdf = parse_cdf(own, context.problems);
      own.refuse_if(!background.cdf.empty() && links::mean_bytes(background) <= 0, "cdf",
                    "the mean size must be > 0");
    }
  });
}

// One size is written as size_bytes again.
// A distribution with one step is the same as a fixed size, and the shorter form of it.
io::Json background_tree(const links::BackgroundOptions& background) {
  io::Json tree;
  tree.set("load", background.load);
  tree.set("transport", links::kTransportKinds[background.transport]);
  if (background.cdf.size() == 1) {
    tree.set("size_bytes", background.cdf.front().first);
  } else {
    tree.set("cdf", io::write_each(background.cdf, [](const auto& step) {
               return io::Array{step.first, step.second};
             }));
  }
  return tree;
}

MessageClasses::MessageClasses(const PacketSettings& settings, std::vector<double> bytes)
    : settings_(settings), before_(std::move(bytes)) {
  // Prefix sums in place: each entry becomes the bytes in front of its layer.
  for (double& each : before_) {
    const double own = each;
    each = total_;
    total_ += own;
  }
}

// Queue 0 is that of control packets. The share is below 1 for every layer, the minimum guards
// against rounding.
std::uint8_t MessageClasses::queue(std::uint32_t layer) const {
  const BoundedLoss& bounded = settings_.bounded_loss;
  if (!bounded.priority) {
    return 1;
  }
  const double data_queues = settings_.options.queues - 1;
  const bool by_bytes = bounded.priority_map == PriorityMap::bytes && total_ > 0;
  const double share = by_bytes ? before_[layer] / total_
                                : static_cast<double>(layer) / static_cast<double>(before_.size());
  return static_cast<std::uint8_t>(1 + std::min(std::floor(data_queues * share), data_queues - 1));
}

// Other transports have one class for all packets.
programs::MessageClass MessageClasses::of_layers(std::span<const std::uint32_t> layers) const {
  programs::MessageClass result;
  if (!settings_.has_transport || settings_.options.transport.kind != links::TransportKind::dlcp) {
    return result;
  }
  const BoundedLoss& bounded = settings_.bounded_loss;
  const std::uint32_t layer = layers.empty() ? 0 : *std::ranges::min_element(layers);
  result.queue = queue(layer);
  result.loss_bound_push = bounded.bound_push_of(layer);
  for (const std::uint32_t each : layers) {
    result.loss_bound_push = std::min(result.loss_bound_push, bounded.bound_push_of(each));
  }
  result.loss_bound_pull = bounded.bound_pull;
  result.large_fraction = bounded.large_fraction;
  if (bounded.selective_drop) {
    const bool front =
        static_cast<double>(layer) < bounded.front_fraction * static_cast<double>(before_.size());
    result.small = front ? links::DropClass::droppable : links::DropClass::middle;
    result.large =
        front && !bounded.protect_large ? links::DropClass::middle : links::DropClass::protected_;
  }
  return result;
}

} // namespace stepsim::study
