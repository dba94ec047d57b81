// The flow level behind the interface of network models: transfers between ranks become flows
// between their hosts. The path of two ranks is looked up once; its connection number, and so its
// path by ECMP, is that of the pair.
#include "links/flow/flow_network.hpp"

#include <algorithm>

#include "base/error.hpp"

namespace stepsim::links {

FlowPath rank_path(const RankFabric& ranks, std::uint32_t src, std::uint32_t dst) {
  assert(src < ranks.hosts.size() && dst < ranks.hosts.size() && "every rank has a host");
  const NodeId from = ranks.hosts[src];
  const NodeId to = ranks.hosts[dst];
  if (ranks.paths.spray) {
    return sprayed_path(ranks.fabric(), ranks.routes(), from, to);
  }
  const std::uint64_t connection = std::uint64_t{src} * ranks.hosts.size() + dst;
  return single_path(ranks.fabric(),
                     ranks.routes().ecmp_path(from, to, connection, ranks.paths.seed));
}

FlowNetwork::FlowNetwork(RankFabric ranks)
    : fabric_(std::move(ranks)), level_(link_capacities(fabric_.fabric())),
      last_(fabric_.hosts.size()) {}

std::uint32_t FlowNetwork::path(Ranks ranks) {
  LastPath& last = last_[ranks.src];
  if (last.dst == ranks.dst) {
    return last.path;
  }
  const std::uint64_t connection = std::uint64_t{ranks.src} * fabric_.hosts.size() + ranks.dst;
  const auto [found, is_new] = paths_.try_emplace(connection, 0);
  if (is_new) {
    found->second = level_.add_path(rank_path(fabric_, ranks.src, ranks.dst));
    ranks_.push_back(ranks);
  }
  last = {ranks.dst, found->second};
  return found->second;
}

void FlowNetwork::submit(double now, const Transfer& transfer) {
  // Headers cost bytes on cables only: what stays in a host has none.
  const bool leaves = fabric_.hosts[transfer.src] != fabric_.hosts[transfer.dst];
  level_.submit(now, {.id = transfer.id,
                      .path = path({transfer.src, transfer.dst}),
                      .bytes = leaves ? fabric_.headers.wire(transfer.bytes) : transfer.bytes,
                      .latency_s = transfer.latency_s,
                      .cap_Bps = transfer.per_byte_s > 0 ? 1 / transfer.per_byte_s : kNever});
}

double FlowNetwork::latency_s(const Transfer& transfer) {
  return transfer.latency_s + level_.path_latency_s(path({transfer.src, transfer.dst}));
}

// Transfers that stand still for ever are an error here, since whoever drives the model waits for
// them.
double FlowNetwork::next_time() {
  const double next = level_.next_time();
  if (next == kNever) {
    refuse_stalled();
  }
  return next;
}

void FlowNetwork::refuse_stalled() {
  const std::vector<FlowLevel::Start> stalled = level_.stalled();
  if (stalled.empty()) {
    return;
  }
  std::string text = "these transfers between ranks stand still: ";
  for (std::size_t i = 0; i < std::min(stalled.size(), kMostNamed); ++i) {
    const Ranks& ranks = ranks_[stalled[i].path];
    text += (i > 0 ? ", " : "") + std::to_string(ranks.src) + " -> " + std::to_string(ranks.dst);
  }
  throw SimulationError(text + (stalled.size() > kMostNamed ? ", ..." : ""));
}

} // namespace stepsim::links
