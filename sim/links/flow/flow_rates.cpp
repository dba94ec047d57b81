// How filling is fast: a heap has, per link, the level at which the link would be full if all its
// open flows rose on. When flows stop, the links they cross become full later, so that entries of
// the heap are too low, never too high: the top one is put right when it comes up, and no other is
// touched.
#include "links/flow/flow_rates.hpp"
#include "links/network_model.hpp"

#include <algorithm>

namespace stepsim::links {
namespace {

constexpr double kOpen = -1;             // level of a flow that still rises
constexpr double kSameLevel = 1 + 1e-12; // PKT 6.2
constexpr double kWornShare = 1e-3;      // add shares up anew: subtracting has cost three digits

double share_of(const ProgressiveFilling::Flow& flow, std::size_t place) {
  return flow.coefficient == nullptr ? flow.weight : flow.weight * flow.coefficient[place];
}

} // namespace

ProgressiveFilling::ProgressiveFilling(std::size_t links) : state_(links) {}

// The users of each link in one array, link after link: counted first, then placed.
void ProgressiveFilling::index(std::span<const double> left, std::span<const Flow> flows) {
  for (const std::uint32_t link : links_) {
    state_[link].users = 0;
  }
  links_.clear();
  for (const Flow& flow : flows) {
    for (const std::uint32_t link : flow.links) {
      if (state_[link].users++ == 0) {
        links_.push_back(link);
      }
    }
  }
  std::uint32_t begin = 0;
  for (const std::uint32_t link : links_) {
    Link& state = state_[link];
    const std::uint32_t users = state.users;
    state = {left[link], 0, 0, kNever, begin, users, 0};
    begin += users;
  }
  users_.resize(begin);
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
    for (std::size_t place = 0; place < flows[flow].links.size(); ++place) {
      Link& state = state_[flows[flow].links[place]];
      const double share = share_of(flows[flow], place);
      users_[state.begin + state.open++] = {flow, share};
      state.share += share;
      state.whole_share = state.share;
    }
  }
}

void ProgressiveFilling::append(std::uint32_t link) {
  const Link& state = state_[link];
  heap_.push_back({std::max(0.0, state.left) / state.share, link, state.open});
}

// Drops and renews entries until the first one is right; false if there is none. Levels of links
// only rise while flows stop, so an entry that is too low comes up in time.
bool ProgressiveFilling::refresh_top(std::span<const double> level) {
  while (!heap_.empty()) {
    const Entry top = heap_.front();
    Link& state = state_[top.link];
    if (state.open == top.open) {
      return true;
    }
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    if (state.open == 0) {
      continue;
    }
    if (state.share < state.whole_share * kWornShare) {
      state.share = 0;
      for (std::uint32_t i = 0; i < state.users; ++i) {
        const User& user = users_[state.begin + i];
        state.share += level[user.flow] == kOpen ? user.share : 0;
      }
      state.whole_share = state.share;
    }
    append(top.link);
    std::push_heap(heap_.begin(), heap_.end());
  }
  return false;
}

// The open flows of a full link get its level. They leave their links in stop_now(), all of one
// level together, so that sums do not depend on the order of links.
void ProgressiveFilling::stop_users(std::uint32_t link, double at, std::span<double> level) {
  const Link& state = state_[link];
  for (std::uint32_t i = 0; i < state.users; ++i) {
    const std::uint32_t flow = users_[state.begin + i].flow;
    if (level[flow] == kOpen) {
      level[flow] = at;
      stopping_.push_back(flow);
    }
  }
}

// The flow keeps its rate from here on: what it takes is no more to be shared.
void ProgressiveFilling::leave(const Flow& uses, double level) {
  for (std::size_t place = 0; place < uses.links.size(); ++place) {
    Link& state = state_[uses.links[place]];
    const double share = share_of(uses, place);
    state.left -= share * level;
    state.share -= share;
    --state.open;
  }
}

// Sums in the order of flows (PKT 6.2).
void ProgressiveFilling::stop_now(std::span<const Flow> flows, double at) {
  std::sort(stopping_.begin(), stopping_.end());
  for (const std::uint32_t flow : stopping_) {
    leave(flows[flow], at);
  }
  stopping_.clear();
}

// Flows across links where nothing is left stop at once (PKT 6.4); the others' links are entered.
void ProgressiveFilling::begin(std::span<const double> left, std::span<const double> capacity,
                               std::span<const Flow> flows, std::span<double> level) {
  for (const std::uint32_t link : links_) {
    if (left[link] <= kNothingLeft * capacity[link]) {
      state_[link].full_at = 0;
      stop_users(link, 0, level);
    }
  }
  stop_now(flows, 0);
  heap_.clear();
  for (const std::uint32_t link : links_) {
    if (state_[link].open > 0) {
      append(link);
    }
  }
  std::make_heap(heap_.begin(), heap_.end());
  by_cap_.clear();
  for (std::uint32_t flow = 0; flow < flows.size(); ++flow) {
    if (flows[flow].cap_level < kNever && level[flow] == kOpen) {
      by_cap_.push_back(flow);
    }
  }
  std::stable_sort(by_cap_.begin(), by_cap_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return flows[a].cap_level < flows[b].cap_level;
  });
}

// Round by round up to the lowest level at which a link is full or a flow at its cap. Levels that
// differ by 1e-12 are one round, since symmetric links are full together but for rounding.
void ProgressiveFilling::fill(std::span<const double> left, std::span<const double> capacity,
                              std::span<const Flow> flows, std::span<double> level) {
  assert(level.size() == flows.size());
  index(left, flows);
  std::fill(level.begin(), level.end(), kOpen);
  begin(left, capacity, flows, level);
  for (std::size_t next_cap = 0;;) {
    while (next_cap < by_cap_.size() && level[by_cap_[next_cap]] != kOpen) {
      ++next_cap;
    }
    const double cap = next_cap < by_cap_.size() ? flows[by_cap_[next_cap]].cap_level : kNever;
    const double at = std::min(refresh_top(level) ? heap_.front().level : kNever, cap);
    if (at == kNever) {
      break;
    }
    for (; next_cap < by_cap_.size() && flows[by_cap_[next_cap]].cap_level <= at * kSameLevel;
         ++next_cap) {
      if (level[by_cap_[next_cap]] == kOpen) {
        level[by_cap_[next_cap]] = at;
        stopping_.push_back(by_cap_[next_cap]);
      }
    }
    while (refresh_top(level) && heap_.front().level <= at * kSameLevel) {
      const std::uint32_t link = heap_.front().link;
      std::pop_heap(heap_.begin(), heap_.end());
      heap_.pop_back();
      state_[link].full_at = at;
      stop_users(link, at, level);
    }
    stop_now(flows, at);
  }
  for (double& value : level) { // neither link nor cap
    value = value == kOpen ? kNever : value;
  }
}

} // namespace stepsim::links
