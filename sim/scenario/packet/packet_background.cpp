// `background` of the packet block (PKT 7.5).
#include "scenario/packet/packet_settings.hpp"

#include "document/fields/written.hpp"
#include "scenario/keys/packet_keys.hpp"
#include "scenario/parse_context.hpp"

namespace stepsim::study {

namespace {

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
    problems.add(rows.empty() ? *fields.any("cdf") : rows.back(),
                 "the last F must be 1" +
                     (cdf.empty() ? "" : ", got " + base::shortest(cdf.back().second)));
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
  double all = 0;
  for (const double each : out) {
    all += each;
  }
  for (links::NodeId host = 0; host < fabric.hosts && fabric.hosts > 1; ++host) {
    if (load * (all - out[host]) / (fabric.hosts - 1) >= in[host]) {
      return host;
    }
  }
  return std::nullopt;
}

} // namespace

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
    if (ordered != (background.transport == links::TransportKind::pfabric) &&
        settings.has_transport) {
      own.refuse("transport", "pfabric changes the ports: all flows have it, or none");
    }
    // A window of fixed size knows no losses and would wait for a lost packet for ever.
    if (background.transport == links::TransportKind::window &&
        settings.options.buffer.scope != links::BufferScope::unlimited) {
      own.refuse("transport", "transport window needs an unlimited buffer");
    }
    if (own.has("size_bytes") == own.has("cdf")) {
      own.refuse(own.has("cdf") ? "cdf" : "size_bytes", "required: either size_bytes or cdf");
      (void)own.any("size_bytes");
      (void)own.any("cdf");
    } else if (own.has("size_bytes")) {
      background.cdf = {{own.required_number("size_bytes"), 1.0}};
    } else {
      background.cdf = parse_cdf(own, context.problems);
      if (!background.cdf.empty() && links::mean_bytes(background) <= 0) {
        own.refuse("cdf", "the mean size must be > 0");
      }
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

} // namespace stepsim::study
