// The network of ports of equal interfaces. A flow that begins or ends changes the rates of those
// flows that share a port with it, of those that share a port with these, and so on: rates are
// computed again for them alone. They do not depend on the other flows, so that the result is that
// of computing all rates.
#include "net/flow/fair_ports.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

#include "net/flow/max_min.hpp"

namespace stepsim::net {
namespace {

constexpr double kSimultaneous = 1e-12;
// Where a change reaches more than this share of the flows, the heap of ends is built anew.
constexpr std::size_t kRebuildShare = 4;
constexpr std::size_t kFewEnds = 16; // that are taken from the heap one by one

// For heaps with the earliest end on top.
constexpr auto later = [](const auto& a, const auto& b) { return a.finish > b.finish; };

} // namespace

FairPorts::FairPorts(std::vector<double> capacity_Bps)
    : capacities_(std::move(capacity_Bps)), flows_at_(capacities_.size()),
      local_port_(capacities_.size()), port_seen_(capacities_.size()) {}

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
  solve();
  return begins_.empty() ? next_finish_ : std::min(next_finish_, begins_.next_time());
}

void FairPorts::advance(double now, std::vector<std::uint32_t>& done) {
  solve();
  now_ = now;
  if (next_finish_ <= now) {
    end_flows(now, done);
  }
  while (!begins_.empty() && begins_.next_time() <= now) {
    const std::uint32_t place = begins_.pop().id();
    free_places_.push_back(place);
    begin_bytes(now, waiting_[place]);
  }
}

bool FairPorts::is_current(const End& end) const {
  const Flow& flow = flows_[end.flow];
  return flow.number == end.number && flow.finish == end.finish;
}

// Flows that share everything end at once but for rounding. They are done in the order in which
// they began.
void FairPorts::end_flows(double now, std::vector<std::uint32_t>& done) {
  std::vector<End> ended;
  const auto may_end = [&](const End& end) {
    return end.finish - now <= kSimultaneous * end.finish;
  };
  const auto ends = [&](const End& end) {
    return is_current(end) &&
           end.finish - now <= kSimultaneous * (end.finish - flows_[end.flow].begin);
  };
  std::vector<End> kept;
  while (!ends_.empty() && may_end(ends_.front()) && ended.size() < kFewEnds) {
    std::ranges::pop_heap(ends_, later);
    const End end = ends_.back();
    ends_.pop_back();
    if (ends(end)) {
      ended.push_back(end);
    } else if (is_current(end)) {
      kept.push_back(end);
    }
  }
  for (const End& end : kept) {
    ends_.push_back(end);
    std::ranges::push_heap(ends_, later);
  }
  if (ended.size() == kFewEnds) { // many at once: one look at all is faster
    const auto rest = std::ranges::partition(ends_, ends);
    ended.insert(ended.end(), ends_.begin(), rest.begin());
    ends_.erase(ends_.begin(), rest.begin());
    std::ranges::make_heap(ends_, later);
  }
  if (!std::ranges::is_sorted(ended, {}, &End::number)) {
    std::ranges::sort(ended, {}, &End::number);
  }
  for (const End& end : ended) {
    if (is_current(end)) { // the heap may hold an end twice
      done.push_back(flows_[end.flow].transfer.id);
      end_bytes(end.flow);
    }
  }
  if (changed_ports_.empty()) { // so that solve() finds the next end
    changed_flows_.push_back(ended.front().flow);
  }
}

// The latency is over: from now on the flow takes a share of its ports.
void FairPorts::begin_bytes(double now, const Transfer& transfer) {
  if (free_flows_.empty()) {
    free_flows_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
    flow_seen_.push_back(0);
  }
  const std::uint32_t place = free_flows_.back();
  free_flows_.pop_back();
  flows_[place] = {transfer, ++begun_, now, now, transfer.bytes, 0, kNever};
  changed_flows_.push_back(place);
  for_ports(transfer, [&](std::uint32_t port) { flows_at_[port].push_back(place); });
}

void FairPorts::end_bytes(std::uint32_t flow) {
  for_ports(flows_[flow].transfer, [&](std::uint32_t port) {
    std::vector<std::uint32_t>& users = flows_at_[port];
    *std::ranges::find(users, flow) = users.back();
    users.pop_back();
    changed_ports_.push_back(port);
  });
  flows_[flow].number = 0;
  free_flows_.push_back(flow);
}

void FairPorts::gather(std::uint32_t flow) {
  if (flows_[flow].number == 0 || flow_seen_[flow] == solved_) {
    return;
  }
  flow_seen_[flow] = solved_;
  reached_flows_.push_back(flow);
  for_ports(flows_[flow].transfer, [&](std::uint32_t port) {
    if (port_seen_[port] != solved_) {
      port_seen_[port] = solved_;
      local_port_[port] = static_cast<std::uint32_t>(reached_ports_.size());
      reached_ports_.push_back(port);
    }
  });
}

// The flows that the changes reach, in the order in which they began, and their ports.
void FairPorts::gather_changed() {
  ++solved_;
  reached_ports_.clear();
  reached_flows_.clear();
  for (const std::uint32_t port : changed_ports_) {
    for (const std::uint32_t flow : flows_at_[port]) {
      gather(flow);
    }
  }
  for (const std::uint32_t flow : changed_flows_) {
    gather(flow);
  }
  for (std::size_t i = 0; i < reached_ports_.size(); ++i) { // grows
    for (const std::uint32_t flow : flows_at_[reached_ports_[i]]) {
      gather(flow);
    }
  }
  changed_ports_.clear();
  changed_flows_.clear();
}

void FairPorts::solve() {
  if (changed_ports_.empty() && changed_flows_.empty()) {
    return;
  }
  gather_changed();
  const std::size_t count = reached_flows_.size();
  std::vector<double> capacity;
  capacity.reserve(reached_ports_.size());
  for (const std::uint32_t port : reached_ports_) {
    capacity.push_back(capacities_[port]);
  }
  std::vector<std::uint32_t> path_begin{0};
  std::vector<std::uint32_t> path;
  std::vector<double> limit;
  path_begin.reserve(count + 1);
  path.reserve(2 * count);
  limit.reserve(count);
  for (const std::uint32_t flow : reached_flows_) {
    const Transfer& transfer = flows_[flow].transfer;
    for_ports(transfer, [&](std::uint32_t port) { path.push_back(local_port_[port]); });
    path_begin.push_back(static_cast<std::uint32_t>(path.size()));
    // A flow never goes faster than its link alone, whatever its ports could carry.
    limit.push_back(transfer.per_byte_s > 0 ? 1 / transfer.per_byte_s : kNever);
  }
  std::vector<double> rate(count);
  max_min(capacity, {path_begin, path, limit}, rate);
  set_rates(rate);
}

// Rates of the reached flows. Finds the next end of all flows.
void FairPorts::set_rates(std::span<const double> rates) {
  const bool rebuild = reached_flows_.size() * kRebuildShare > flows_.size() - free_flows_.size();
  for (std::size_t i = 0; i < rates.size(); ++i) {
    Flow& flow = flows_[reached_flows_[i]];
    if (flow.rate_Bps == rates[i] && flow.finish < kNever) {
      continue;
    }
    flow.remaining = std::max(0.0, flow.remaining - flow.rate_Bps * (now_ - flow.since));
    flow.since = now_;
    flow.rate_Bps = rates[i];
    flow.finish = flow.remaining > 0 ? flow.since + flow.remaining / flow.rate_Bps : flow.since;
    if (!rebuild) {
      ends_.push_back({flow.finish, flow.number, reached_flows_[i]});
      std::ranges::push_heap(ends_, later);
    }
  }
  if (rebuild) {
    ends_.clear();
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      if (flows_[flow].number != 0) {
        ends_.push_back({flows_[flow].finish, flows_[flow].number, flow});
      }
    }
    std::ranges::make_heap(ends_, later);
  }
  while (!ends_.empty() && !is_current(ends_.front())) {
    std::ranges::pop_heap(ends_, later);
    ends_.pop_back();
  }
  next_finish_ = ends_.empty() ? kNever : ends_.front().finish;
}

} // namespace stepsim::net
