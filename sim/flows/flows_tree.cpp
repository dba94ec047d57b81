// Results of lists of flows as trees and pictures.
#include <algorithm>
#include <string>

#include "flows/flows.hpp"
#include "net/flow/flow_run.hpp"
#include "scenario/packet/packet_tree.hpp"

namespace stepsim::study {

namespace {

template <class Number> io::Json number(const std::optional<Number>& value) {
  return value ? io::Json(*value) : io::Json();
}

io::Json count(std::uint64_t value) { return value; }

io::Json network_tree(const FlowsFile& file) {
  const bool packets = file.level == NetworkLevel::packet;
  const net::PacketOptions& options = file.packet.options;
  io::Json tree;
  tree.set("model", kNetworkLevels[file.level]);
  tree.set("transport", file.packet.has_transport
                            ? io::Json(net::kTransportKinds[options.transport.kind])
                            : io::Json());
  tree.set("queue_discipline",
           packets ? io::Json(net::kQueueDisciplines[options.queue_discipline]) : io::Json());
  tree.set("load_balancing", net::kLoadBalancings[options.load_balancing]);
  tree.set("count_headers", file.count_headers);
  tree.set("packet", packet_tree(file.packet, file.fabric));
  return tree;
}

io::Json flow_tree(std::size_t id, const FlowResult& flow) {
  io::Json tree;
  tree.set("id", static_cast<std::int64_t>(id));
  tree.set("fct_s", number(flow.fct_s));
  tree.set("delivered_bytes", flow.delivered_bytes);
  tree.set("lost_bytes", flow.lost_bytes);
  const auto& packets = flow.packets;
  tree.set("retransmissions", packets ? count(packets->retransmissions) : io::Json());
  tree.set("timeouts", packets ? count(packets->timeouts) : io::Json());
  tree.set("wasted_bytes", packets ? io::Json(packets->wasted_bytes) : io::Json());
  tree.set("duplicates", packets ? count(packets->duplicates) : io::Json());
  tree.set("probe_rounds", packets ? count(packets->probe_rounds) : io::Json());
  return tree;
}

io::Json classes_tree(const FlowsResult& result) {
  constexpr std::array<std::string_view, net::kDropClasses> kNames{"protected", "middle",
                                                                   "droppable", "not_ect"};
  io::Json tree;
  for (std::size_t each = 0; each < kNames.size(); ++each) {
    const auto value = [&](std::uint64_t net::PacketCounts::*member) {
      return result.classes ? count((*result.classes)[each].*member) : io::Json();
    };
    tree.set(kNames[each], io::Object{{"sent", value(&net::PacketCounts::sent)},
                                      {"delivered", value(&net::PacketCounts::delivered)},
                                      {"dropped", value(&net::PacketCounts::dropped)},
                                      {"vanished", value(&net::PacketCounts::vanished)}});
  }
  return tree;
}

io::Json statistics_tree(const std::optional<FlowStatistics>& all) {
  io::Json tree;
  tree.set("mean_s", all ? io::Json(all->mean_s) : io::Json());
  tree.set("p50_s", all ? io::Json(all->p50_s) : io::Json());
  tree.set("p95_s", all ? io::Json(all->p95_s) : io::Json());
  tree.set("p99_s", all ? io::Json(all->p99_s) : io::Json());
  tree.set("max_s", all ? io::Json(all->max_s) : io::Json());
  return tree;
}

} // namespace

io::Json flows_tree(const FlowsFile& file, const FlowsResult& result) {
  io::Json tree;
  tree.set("schema_version", 1);
  if (!file.name.empty()) {
    tree.set("name", file.name);
  }
  tree.set("seed", file.seed);
  tree.set("network", network_tree(file));
  io::Array flows;
  for (std::size_t id = 0; id < result.flows.size(); ++id) {
    flows.push_back(flow_tree(id, result.flows[id]));
  }
  tree.set("flows", std::move(flows));
  tree.set("summary", statistics_tree(result.statistics));
  if (const auto& background = result.background) {
    io::Json apart = statistics_tree(background->statistics);
    apart.set("started", background->started);
    apart.set("completed", background->completed);
    tree.set("background", std::move(apart));
  } else {
    tree.set("background", nullptr);
  }
  io::Array links;
  for (net::LinkId link = 0; link < result.links.size(); ++link) {
    links.push_back(link_tree(file.fabric, link, result.links[link]));
  }
  tree.set("links", std::move(links));
  tree.set("classes", classes_tree(result));
  tree.set("events", count(result.events));
  tree.set("packet_hops", number(result.packet_hops));
  tree.set("solves", number(result.solves));
  tree.set("warnings", io::Array(result.warnings.begin(), result.warnings.end()));
  return tree;
}

} // namespace stepsim::study
