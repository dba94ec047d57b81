// The network of ports of equal interfaces. A flow that begins or ends changes the rates of those
// flows that share a port with it, of those that share a port with these, and so on: rates are
// computed again for them alone. They do not depend on the other flows, so that the result is that
// of computing all rates.
#include "links/flow/fair_ports.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace stepsim::links {
namespace {

constexpr double kSimultaneous = 1e-12;
// Where a change reaches more than this share of the flows, the heap of ends is built anew.
constexpr std::size_t kRebuildShare = 4;
// Entries that are taken from the heap one by one: so many, or this share of the heap. A look at
// the whole heap costs as much as taking about that share.
constexpr std::size_t kFewEnds = 16;
constexpr std::size_t kFewShare = 16;

// For heaps with the earliest end on top.
constexpr auto later = [](const auto& a, const auto& b) { return a.finish > b.finish; };

} // namespace

FairPorts::FairPorts(std::vector<double> capacity_Bps, bool shortcuts)
    : capacities_(std::move(capacity_Bps)),
      equal_ports_(shortcuts && std::ranges::adjacent_find(capacities_, std::not_equal_to<>()) ==
                                    capacities_.end()),
      flows_at_(capacities_.size()), port_seen_(capacities_.size()), filling_(capacities_.size()) {}

void FairPorts::submit(double now, const Transfer& transfer) {
  assert(now >= now_ && "transfers start in time order");
  if (free_flows_.empty()) {
    free_flows_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
    flow_seen_.push_back(0);
  }
  const std::uint32_t place = free_flows_.back();
  free_flows_.pop_back();
  Flow& flow = flows_[place];
  flow.id = transfer.id;
  flow.port_pair = {transfer.send_port, transfer.receive_port};
  flow.per_byte_s = transfer.per_byte_s;
  flow.remaining = transfer.bytes;
  begins_.push(now + transfer.latency_s, place);
}

double FairPorts::next_time() {
  solve();
  return std::min(next_finish_, begins_.next_or_never());
}

void FairPorts::advance(double now, std::vector<std::uint32_t>& done) {
  solve();
  now_ = now;
  if (next_finish_ <= now) {
    end_flows(now, done);
  }
  begins_.drain(now, [&](const auto& begin) { begin_bytes(now, begin.id()); });
}

bool FairPorts::is_current(const End& end) const {
  const Flow& flow = flows_[end.flow];
  return flow.number == end.number && flow.finish == end.finish;
}

// Flows of one node mostly begin and end together: the heap has an entry for all of them.
void FairPorts::append(const End& end, std::size_t begin) {
  std::uint32_t place = free_listed_;
  if (place == kNone) {
    place = static_cast<std::uint32_t>(listed_.size());
    listed_.emplace_back();
  } else {
    free_listed_ = listed_[place].next;
  }
  listed_[place] = {end.number, end.flow};
  if (ends_.size() > begin && ends_.back().finish == end.finish) {
    listed_[ends_.back().last].next = place;
    ends_.back().last = place;
  } else {
    ends_.push_back({end.finish, place, place});
  }
}

template <class See> void FairPorts::take(const EndsAt& entry, const See& see) {
  for (std::uint32_t at = entry.first; at != kNone; at = listed_[at].next) {
    __builtin_prefetch(&flows_[listed_[at].flow]); // all at once, not one after the other
  }
  for (std::uint32_t at = entry.first; at != kNone; at = listed_[at].next) {
    see(End{entry.finish, listed_[at].number, listed_[at].flow});
  }
  listed_[entry.last].next = free_listed_;
  free_listed_ = entry.first;
}

void FairPorts::push_from(std::size_t begin) {
  for (auto end = ends_.begin() + static_cast<std::ptrdiff_t>(begin); end != ends_.end(); ++end) {
    std::push_heap(ends_.begin(), end + 1, later);
  }
}

// Flows that share everything end at once but for rounding. They are done in the order in which
// they began.
void FairPorts::end_flows(double now, std::vector<std::uint32_t>& done) {
  ended_.clear();
  kept_.clear();
  const auto may_end = [&](const EndsAt& entry) {
    return entry.finish - now <= kSimultaneous * entry.finish;
  };
  const auto see = [&](const End& end) {
    if (is_current(end)) {
      const double sending = end.finish - flows_[end.flow].begin;
      (end.finish - now <= kSimultaneous * sending ? ended_ : kept_).push_back(end);
    }
  };
  const std::size_t few = std::max(kFewEnds, ends_.size() / kFewShare);
  std::size_t taken = 0;
  for (; taken < few && !ends_.empty() && may_end(ends_.front()); ++taken) {
    std::ranges::pop_heap(ends_, later);
    const EndsAt entry = ends_.back();
    ends_.pop_back();
    take(entry, see);
  }
  if (taken == few) { // many at once: one look at all is faster
    std::erase_if(ends_, [&](const EndsAt& entry) {
      const bool is_near = may_end(entry);
      if (is_near) {
        take(entry, see);
      }
      return is_near;
    });
    std::ranges::make_heap(ends_, later);
  }
  const std::size_t begin = ends_.size();
  for (const End& end : kept_) {
    append(end, begin);
  }
  push_from(begin);
  if (!std::ranges::is_sorted(ended_, {}, &End::number)) {
    std::ranges::sort(ended_, {}, &End::number);
  }
  for (const End& end : ended_) {
    if (is_current(end)) { // the heap may hold an end twice
      done.push_back(flows_[end.flow].id);
      end_bytes(end.flow);
    }
  }
  if (changed_ports_.empty()) { // so that solve() finds the next end
    changed_flows_.push_back(ended_.front().flow);
  }
}

// The latency is over: from now on the flow takes a share of its ports.
void FairPorts::begin_bytes(double now, std::uint32_t flow) {
  Flow& begins = flows_[flow];
  begins.number = ++begun_;
  begins.begin = begins.since = now;
  begins.rate_Bps = 0;
  begins.finish = kNever;
  ++flowing_;
  changed_flows_.push_back(flow);
  for (const std::uint32_t port : begins.ports()) {
    flows_at_[port].push_back(flow);
  }
}

void FairPorts::end_bytes(std::uint32_t flow) {
  for (const std::uint32_t port : flows_[flow].ports()) {
    std::vector<std::uint32_t>& users = flows_at_[port];
    *std::ranges::find(users, flow) = users.back();
    users.pop_back();
    changed_ports_.push_back(port);
  }
  flows_[flow].number = 0;
  --flowing_;
  free_flows_.push_back(flow);
}

void FairPorts::gather(std::uint32_t flow) {
  if (flows_[flow].number == 0 || flow_seen_[flow] == solved_) {
    return;
  }
  flow_seen_[flow] = solved_;
  reached_flows_.push_back(flow);
  for (const std::uint32_t port : flows_[flow].ports()) {
    if (port_seen_[port] != solved_) {
      port_seen_[port] = solved_;
      reached_ports_.push_back(port);
    }
  }
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

// Whether every reached flow shares its two ports with the same flows alone, and all have the same
// limit. Progressive filling then ends every such set of n flows in one round, at the limit or at
// the share capacity / n, whichever is lower: shares of different n differ by more than rounding.
bool FairPorts::share_alone() {
  if (!equal_ports_) {
    return false;
  }
  rates_.clear();
  for (const std::uint32_t flow : reached_flows_) {
    const double per_byte_s = flows_[flow].per_byte_s;
    const std::span<const std::uint32_t> ports = flows_[flow].ports();
    if (ports.size() < 2 || per_byte_s != flows_[reached_flows_.front()].per_byte_s) {
      return false;
    }
    const std::vector<std::uint32_t>& users = flows_at_[ports[0]];
    if (flows_[users.front()].port_pair[1] != ports[1] ||
        users.size() != flows_at_[ports[1]].size()) {
      return false;
    }
    const double share = capacities_.front() / static_cast<double>(users.size());
    rates_.push_back(per_byte_s > 0 ? std::min(1 / per_byte_s, share) : share);
  }
  return true;
}

void FairPorts::solve() {
  if (changed_ports_.empty() && changed_flows_.empty()) {
    return;
  }
  gather_changed();
  if (share_alone()) {
    set_rates(rates_);
    return;
  }
  uses_.clear();
  for (const std::uint32_t flow : reached_flows_) {
    const Flow& reached = flows_[flow];
    // A flow never goes faster than its link alone, whatever its ports could carry.
    uses_.push_back({.links = reached.ports(),
                     .cap_level = reached.per_byte_s > 0 ? 1 / reached.per_byte_s : kNever});
  }
  rates_.resize(uses_.size());
  filling_.fill(capacities_, capacities_, uses_, rates_);
  set_rates(rates_);
}

// Rates of the reached flows.
void FairPorts::set_rates(std::span<const double> rates) {
  const bool rebuild = reached_flows_.size() * kRebuildShare > flowing_;
  const std::size_t begin = ends_.size();
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
      append({flow.finish, flow.number, reached_flows_[i]}, begin);
    }
  }
  if (rebuild) {
    ends_.clear();
    listed_.clear();
    free_listed_ = kNone;
    for (std::uint32_t flow = 0; flow < flows_.size(); ++flow) {
      if (flows_[flow].number != 0) {
        append({flows_[flow].finish, flows_[flow].number, flow}, 0);
      }
    }
    std::ranges::make_heap(ends_, later);
  } else {
    push_from(begin);
  }
  find_next_end();
}

// Drops what is out of date at the top of the heap.
void FairPorts::find_next_end() {
  while (!ends_.empty()) {
    EndsAt& next = ends_.front();
    while (next.first != kNone) {
      const Listed listed = listed_[next.first];
      if (is_current({next.finish, listed.number, listed.flow})) {
        next_finish_ = next.finish;
        return;
      }
      listed_[next.first].next = free_listed_;
      free_listed_ = next.first;
      next.first = listed.next;
    }
    std::ranges::pop_heap(ends_, later);
    ends_.pop_back();
  }
  next_finish_ = kNever;
}

} // namespace stepsim::links
