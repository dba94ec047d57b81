// Between two instants rates are constant, so a flow is known by what was left at `since` and its
// rate. Rates are found when somebody asks for the next time, not when flows start or end: all that
// happens at one instant costs one solve.
#include "links/flow/flow_level.hpp"
#include "links/network_model.hpp"

#include <algorithm>

namespace stepsim::links {
namespace {

constexpr double kCrumb = 1e-3; // byte (PKT 6.3)
constexpr double kClockRounding = 1e-15;

bool by_id(const FlowLevel::Start& a, const FlowLevel::Start& b) { return a.id < b.id; }

} // namespace

FlowLevel::FlowLevel(std::vector<double> capacity_Bps, std::uint32_t classes, double crumb_of_flow)
    : rates_(std::move(capacity_Bps), classes), crumb_of_flow_(crumb_of_flow) {
  links_.resize(rates_.links());
}

// A flow without latency begins at once, with all others of this instant.
void FlowLevel::submit(double now, const Start& start) {
  assert(now >= now_ && "flows start in time order");
  const double begin = now + (start.latency_s + rates_.paths.latency_s(start.path));
  if (begin <= now) {
    beginning_.push_back(start);
    now_ = now;
    stale_ = true;
    return;
  }
  if (free_waiting_.empty()) {
    free_waiting_.push_back(static_cast<std::uint32_t>(waiting_.size()));
    waiting_.emplace_back();
  }
  const std::uint32_t place = free_waiting_.back();
  free_waiting_.pop_back();
  waiting_[place] = start;
  begins_.push(begin, place);
}

// The earlier of the next end and the next begin; solving comes first, since it moves the ends.
double FlowLevel::next_time() {
  if (stale_) {
    solve();
  }
  return std::min(next_finish_, begins_.next_or_never());
}

// Ends by id, then begins; rates are found when the next time is asked for.
void FlowLevel::advance(double now, std::vector<std::uint32_t>& done) {
  if (stale_) {
    solve();
  }
  now_ = now;
  if (next_finish_ <= now) {
    ending_.clear();
    finishes_.at(next_finish_, ending_);
    std::sort(ending_.begin(), ending_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return flows_[a].start.id < flows_[b].start.id;
    });
    for (const std::uint32_t place : ending_) {
      done.push_back(flows_[place].start.id);
      end(place);
    }
    next_finish_ = kNever;
    stale_ = true;
  }
  begins_.drain(now, [&](const auto& begin) {
    beginning_.push_back(waiting_[begin.id()]);
    free_waiting_.push_back(begin.id());
    stale_ = true;
  });
}

// Bytes of links are counted when a flow ends, and of those under way in link_use().
void FlowLevel::end(std::uint32_t place) {
  Flow& flow = flows_[place];
  const std::uint32_t path = flow.start.path;
  const auto links = rates_.paths.links(path);
  for (std::size_t i = 0; i < links.size(); ++i) {
    links_[links[i]].bytes += rates_.paths.part(path, i) * flow.start.bytes;
  }
  if (flow.rate > 0) {
    count_senders(flow, -1);
  }
  flow.under_way = false;
  finishes_.remove(place);
  rates_.remove(place);
}

// A link is busy while at least one flow with a rate above 0 crosses it.
void FlowLevel::count_senders(const Flow& flow, int change) {
  for (const LinkId id : rates_.paths.links(flow.start.path)) {
    Link& link = links_[id];
    if (change > 0 && link.senders++ == 0) {
      link.busy_since = now_;
    } else if (change < 0 && --link.senders == 0) {
      link.busy_s += now_ - link.busy_since;
    }
  }
}

// By id, whatever the order of the calls, so that places and sums are the same in every run.
void FlowLevel::begin_all() {
  std::sort(beginning_.begin(), beginning_.end(), by_id);
  for (const Start& start : beginning_) {
    const std::uint32_t place =
        rates_.add({start.path, start.priority, start.weight, start.cap_Bps});
    if (place >= flows_.size()) {
      flows_.resize(place + 1);
    }
    flows_[place] = {start, now_, start.bytes * start.stretch, 0, true};
    if (start.bytes <= 0) {
      finishes_.set(place, now_, now_);
    }
  }
  beginning_.clear();
}

void FlowLevel::solve() {
  stale_ = false;
  begin_all();
  ++solves_;
  for (const std::uint32_t place : rates_.solve()) {
    Flow& flow = flows_[place];
    const double rate = rates_.rate(place);
    if (flow.rate > 0) {
      flow.remaining = std::max(0.0, flow.remaining - flow.rate * (now_ - flow.since));
    }
    if ((flow.rate > 0) != (rate > 0)) {
      count_senders(flow, rate > 0 ? 1 : -1);
    }
    flow.since = now_;
    flow.rate = rate;
    const double bytes = flow.start.bytes * flow.start.stretch;
    const double end = flow.remaining > 0 ? now_ + flow.remaining / rate : now_;
    // Flows that are equal by symmetry differ by rounding only; within the crumb they end together,
    // with one event and one solve.
    const double crumb =
        std::min(kCrumb / rate, crumb_of_flow_ * bytes / rate + kClockRounding * end);
    finishes_.set(place, rate > 0 ? end - crumb : end, end);
  }
  next_finish_ = std::max(now_, finishes_.next());
}

// Only flows at rate 0 are left, and nothing will change that: a class before them keeps all of a
// link.
std::vector<FlowLevel::Start> FlowLevel::stalled() {
  std::vector<Start> starts;
  if (next_time() == kNever) {
    for (const Flow& flow : flows_) {
      if (flow.under_way) {
        starts.push_back(flow.start);
      }
    }
    std::sort(starts.begin(), starts.end(), by_id);
  }
  return starts;
}

std::vector<LinkUse> FlowLevel::link_use(double now) const {
  std::vector<LinkUse> use(links_.size());
  for (std::size_t i = 0; i < links_.size(); ++i) {
    use[i] = {links_[i].bytes, links_[i].busy_s};
    use[i].busy_s += links_[i].senders > 0 ? now - links_[i].busy_since : 0;
  }
  for (const Flow& flow : flows_) {
    if (flow.under_way) {
      const double left = std::max(0.0, flow.remaining - flow.rate * (now - flow.since));
      const auto links = rates_.paths.links(flow.start.path);
      for (std::size_t i = 0; i < links.size(); ++i) {
        use[links[i]].bytes +=
            rates_.paths.part(flow.start.path, i) * (flow.start.bytes - left / flow.start.stretch);
      }
    }
  }
  return use;
}

} // namespace stepsim::links
