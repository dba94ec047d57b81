#include "net/flow_network.hpp"

#include <algorithm>
#include <cassert>
#include <string>

#include "base/error.hpp"

namespace stepsim::net {

FlowNetwork::FlowNetwork(const Fabric& fabric, const Routes& routes, std::vector<NodeId> hosts,
                         FlowPathOptions options)
    : fabric_(&fabric), routes_(&routes), hosts_(std::move(hosts)), options_(options),
      level_(link_capacities(fabric)) {}

std::uint32_t FlowNetwork::path(Ranks ranks) {
  const std::uint64_t connection = std::uint64_t{ranks.src} * hosts_.size() + ranks.dst;
  const auto [found, is_new] = paths_.try_emplace(connection, 0);
  if (is_new) {
    const NodeId from = hosts_[ranks.src];
    const NodeId to = hosts_[ranks.dst];
    found->second = level_.add_path(
        options_.spray
            ? sprayed_path(*fabric_, *routes_, from, to)
            : single_path(*fabric_, routes_->ecmp_path(from, to, connection, options_.seed)));
    ranks_.push_back(ranks);
  }
  return found->second;
}

void FlowNetwork::submit(double now, const Transfer& transfer) {
  assert(transfer.src < hosts_.size() && transfer.dst < hosts_.size() &&
         "transfers name their ranks");
  level_.submit(now, {.id = transfer.id,
                      .path = path({transfer.src, transfer.dst}),
                      .bytes = transfer.bytes,
                      .latency_s = transfer.latency_s,
                      .cap_Bps = transfer.per_byte_s > 0 ? 1 / transfer.per_byte_s : kNever});
}

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

} // namespace stepsim::net
