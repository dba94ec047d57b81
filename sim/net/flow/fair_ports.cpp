// The network of ports of equal interfaces. It is small, one or two ports per flow, so that all
// rates are found anew whenever a flow begins or ends.
#include "net/flow/fair_ports.hpp"

#include <algorithm>
#include <cassert>

#include "net/flow/max_min.hpp"

namespace stepsim::net {
namespace {

constexpr double kSimultaneous = 1e-12;

} // namespace

void FairPorts::submit(double now, const Transfer& transfer) {
  assert(now >= now_ && "transfers start in time order");
  if (free_places_.empty()) {
    free_places_.push_back(static_cast<std::uint32_t>(waiting_.size()));
    waiting_.emplace_back();
  }
  const std::uint32_t place = free_places_.back();
  free_places_.pop_back();
  waiting_[place] = transfer;
  begins_.push(now + transfer.latency_s, place);
}

double FairPorts::next_time() {
  if (stale_) {
    solve();
  }
  return begins_.empty() ? next_finish_ : std::min(next_finish_, begins_.next_time());
}

void FairPorts::advance(double now, std::vector<std::uint32_t>& done) {
  if (stale_) {
    solve();
  }
  now_ = now;
  const double last = now;
  if (next_finish_ <= now) {
    // Flows that share everything end at once but for rounding.
    const auto ended = [&](const Flow& flow) {
      return flow.finish - last <= kSimultaneous * (flow.finish - flow.begin);
    };
    for (const Flow& flow : flows_) {
      if (ended(flow)) {
        done.push_back(flow.transfer.id);
      }
    }
    std::erase_if(flows_, ended);
    stale_ = true;
  }
  while (!begins_.empty() && begins_.next_time() <= now) {
    const std::uint32_t place = begins_.pop().id();
    free_places_.push_back(place);
    begin_bytes(now, waiting_[place]);
  }
}

// The latency is over: from now on the flow takes a share of its ports.
void FairPorts::begin_bytes(double now, const Transfer& transfer) {
  flows_.push_back({transfer, now, now, transfer.bytes, 0, kNever});
  stale_ = true;
}

void FairPorts::solve() {
  stale_ = false;
  std::vector<std::uint32_t> path_begin{0};
  std::vector<std::uint32_t> path;
  std::vector<double> limit;
  std::vector<double> rate(flows_.size());
  for (const Flow& flow : flows_) {
    for (const std::uint32_t port : {flow.transfer.send_port, flow.transfer.receive_port}) {
      if (port != kNoPort) {
        path.push_back(port);
      }
    }
    path_begin.push_back(static_cast<std::uint32_t>(path.size()));
    // A flow never goes faster than its link alone, whatever its ports could carry.
    limit.push_back(flow.transfer.per_byte_s > 0 ? 1 / flow.transfer.per_byte_s : kNever);
  }
  max_min(capacities_, {path_begin, path, limit}, rate);
  next_finish_ = kNever;
  for (std::size_t i = 0; i < flows_.size(); ++i) {
    Flow& flow = flows_[i];
    if (flow.rate_Bps != rate[i]) {
      flow.remaining = std::max(0.0, flow.remaining - flow.rate_Bps * (now_ - flow.since));
      flow.since = now_;
      flow.rate_Bps = rate[i];
    }
    flow.finish = flow.remaining > 0 ? flow.since + flow.remaining / flow.rate_Bps : flow.since;
    next_finish_ = std::min(next_finish_, flow.finish);
  }
}

} // namespace stepsim::net
