// The part of ChangingRates that follows a change through the network, in the order of levels.
//
// Why the result is right: when no link is wrong, the load of a link with finite `full` is all its
// class has there, and its flows that stop there have the highest level on it; so every flow has
// its cap or a bottleneck, and there is one such allocation only. The order of levels makes it
// quick: what happens below a level does not depend on what happens above.
#include <algorithm>
#include <cmath>

#include "net/flow/changing_rates.hpp"
#include "net/network_model.hpp"

namespace stepsim::net {
namespace {

// Levels that differ by rounding only are equal: the wave stops there.
constexpr double kRounding = 1e-13;
// Filling anew is cheaper than a wave that looks at more uses than these.
constexpr std::size_t kWorkPerUse = 4;
constexpr std::size_t kLeastWork = 256;

bool same(double a, double b) { return a == b || std::abs(a - b) <= kRounding * std::min(a, b); }

} // namespace

// The level s with sum share min(stop, s) = left, infinity if the flows stop before. From below:
// flows that stop under the level so far leave the others more.
double ChangingRates::find_aim(std::uint32_t index) {
  const Link& link = links_[index];
  const std::size_t count = link.users.size();
  work_ += count;
  if (count == 0) {
    return kNever;
  }
  if (link.left <= kNothingLeft * capacity_[index % capacity_.size()]) {
    return 0;
  }
  stop_.resize(count);
  share_.resize(count);
  double all = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const State& state = flows_[link.users[i].place];
    stop_[i] = state.stop_without(index);
    share_[i] = link.users[i].share;
    all += share_[i];
  }
  double level = link.left / all;
  for (std::size_t stopped = 0;;) {
    double left = link.left;
    double share = 0;
    std::size_t under = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const bool stops = stop_[i] < level;
      left -= stops ? share_[i] * stop_[i] : 0;
      share += stops ? 0 : share_[i];
      under += stops ? 1 : 0;
    }
    if (under == stopped) {
      return level;
    }
    if (under == count) {
      return kNever;
    }
    stopped = under;
    level = std::max(level, left / share);
  }
}

void ChangingRates::renew_aims(std::uint32_t priority) {
  for (const std::uint32_t index : dirty_[priority]) {
    Link& link = links_[index];
    link.dirty = false;
    const double aim = find_aim(index);
    link.wrong = !same(aim, link.full);
    link.aim = link.wrong ? aim : link.full;
    if (link.wrong) {
      heap_.push_back({std::min(link.aim, link.full), index});
      std::push_heap(heap_.begin(), heap_.end());
    }
  }
  dirty_[priority].clear();
}

// Gives the link its new level, and marks the links to which that matters: those that a flow
// crosses which stopped or now stops below their own aim.
void ChangingRates::set_full(std::uint32_t index, double value) {
  Link& link = links_[index];
  link.full = value;
  work_ += link.users.size();
  for (const User& user : link.users) {
    State& state = flows_[user.place];
    const State old = state;
    look_at_links(state);
    if (state.first == old.first && state.second == old.second &&
        state.first_link == old.first_link) {
      continue;
    }
    if (state.first != old.first) {
      touch(user.place);
    }
    for (const LinkId id : paths.links(state.flow.path)) {
      const std::uint32_t other = link_of(state.flow.priority, id);
      if (other == index) {
        continue;
      }
      const double before = old.stop_without(other);
      const double after = state.stop_without(other);
      const double aim = links_[other].aim;
      const bool matters = aim == kNever ? after > before : std::min(before, after) < aim;
      if (before != after && matters) {
        mark(other);
      }
    }
  }
}

// False if that took more work than filling anew.
bool ChangingRates::solve_changes(std::uint32_t priority) {
  work_ = 0;
  renew_aims(priority);
  while (!heap_.empty()) {
    const Entry entry = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end());
    heap_.pop_back();
    Link& link = links_[entry.link];
    if (!link.wrong || entry.level != std::min(link.aim, link.full)) {
      continue; // of before
    }
    if (work_ > kWorkPerUse * uses_ + kLeastWork) {
      heap_.push_back(entry);
      return false;
    }
    link.wrong = false;
    set_full(entry.link, link.aim);
    renew_aims(priority);
  }
  return true;
}

} // namespace stepsim::net
