// Adding and removing flows only marks links; `solve` puts everything right, by the wave below or
// by filling anew, class by class in the order of priority.
#include "links/flow/changing_rates.hpp"

#include <algorithm>
#include <cmath>

#include "links/network_model.hpp"

namespace stepsim::links {
namespace {
// Filling anew costs less than following changes when this part of the flows came or went.
constexpr std::size_t kFewFlows = 8;
constexpr std::size_t kFewPerSize = 8;

constexpr double kRounding = 1e-13; // levels that differ by it are equal: the wave stops there
// Filling anew is cheaper than a wave that looks at more uses than these.
constexpr std::size_t kWorkPerUse = 4;
constexpr std::size_t kLeastWork = 256;

bool same(double a, double b) { return a == b || std::abs(a - b) <= kRounding * std::min(a, b); }

} // namespace

ChangingRates::ChangingRates(std::vector<double> capacity_Bps, std::uint32_t classes)
    : capacity_(std::move(capacity_Bps)), classes_(classes), dirty_(classes), altered_(classes),
      filling_(capacity_.size()) {
  links_.resize(capacity_.size() * classes_);
  for (std::size_t link = 0; link < links_.size(); ++link) {
    links_[link].full = links_[link].aim = kNever;
    links_[link].left = capacity_[link % capacity_.size()];
  }
}

// The flow may have another rate now; `solve` looks at it once.
void ChangingRates::touch(std::uint32_t place) {
  if (!flows_[place].touched) {
    flows_[place].touched = true;
    changed_.push_back(place);
  }
}

// What the link should offer is to be found anew.
void ChangingRates::mark(std::uint32_t link) {
  if (!links_[link].dirty) {
    links_[link].dirty = true;
    dirty_[link / capacity_.size()].push_back(link);
  }
}

// The flow rises to the lowest `full` it finds; the wave then finds out whom it crowds.
std::uint32_t ChangingRates::add(const Flow& flow) {
  assert(flow.priority < classes_ && flow.weight > 0);
  if (free_.empty()) {
    free_.push_back(static_cast<std::uint32_t>(flows_.size()));
    flows_.emplace_back();
  }
  const std::uint32_t place = free_.back();
  free_.pop_back();
  State& state = flows_[place];
  const bool listed = state.touched;
  // A place may be used again while it is still listed in `changed_`: the mark stays.
  state = {.flow = flow, .cap_level = flow.cap_Bps / flow.weight, .alive = true};
  state.touched = listed;
  const auto path = paths.links(flow.path);
  for (std::size_t i = 0; i < path.size(); ++i) {
    const std::uint32_t link = link_of(flow.priority, path[i]);
    links_[link].users.push_back({place, flow.weight * paths.part(flow.path, i)});
    mark(link);
  }
  uses_ += path.size();
  look_at_links(state);
  touch(place);
  ++size_;
  arrived_.push_back(place);
  return place;
}

void ChangingRates::remove(std::uint32_t place) {
  State& state = flows_[place];
  assert(state.alive && "a flow leaves once");
  state.alive = false;
  news_ += shares_links(state) ? 1 : 0;
  for (const LinkId id : paths.links(state.flow.path)) {
    const std::uint32_t link = link_of(state.flow.priority, id);
    links_[link].departed = true;
    mark(link);
    --uses_;
  }
  departed_.push_back(place);
  --size_;
}

// Takes flows that left off the lists of their links.
void ChangingRates::purge() {
  for (std::uint32_t priority = 0; priority < classes_; ++priority) {
    for (const std::uint32_t index : dirty_[priority]) {
      Link& link = links_[index];
      if (!link.departed) {
        continue;
      }
      link.departed = false;
      std::erase_if(link.users, [&](const User& user) { return !flows_[user.place].alive; });
      if (link.users.empty()) {
        link.full = link.aim = kNever;
      }
      altered_[priority].push_back(index);
    }
  }
  free_.insert(free_.end(), departed_.begin(), departed_.end());
  departed_.clear();
}

bool ChangingRates::shares_links(const State& state) const {
  return std::ranges::any_of(paths.links(state.flow.path), [&](LinkId id) {
    return links_[link_of(state.flow.priority, id)].users.size() > 1;
  });
}

// A flow that shares no link is at its cap or fills its narrowest links, whatever the others do.
void ChangingRates::settle_lone_flow(std::uint32_t place) {
  State& state = flows_[place];
  double level = state.cap_level;
  for (const LinkId id : paths.links(state.flow.path)) {
    Link& link = links_[link_of(state.flow.priority, id)];
    link.dirty = false;
    link.aim = link.left <= kNothingLeft * capacity_[id] ? 0 : link.left / link.users[0].share;
    level = std::min(level, link.aim);
  }
  for (const LinkId id : paths.links(state.flow.path)) {
    Link& link = links_[link_of(state.flow.priority, id)];
    link.full = link.aim = link.aim > level ? kNever : link.aim;
  }
  look_at_links(state);
  touch(place);
}

// Links that nobody uses, and those of flows that share none, need no wave.
void ChangingRates::settle_lone_flows(std::uint32_t priority) {
  std::erase_if(dirty_[priority], [&](std::uint32_t index) {
    Link& link = links_[index];
    if (link.dirty && link.users.size() == 1 && !shares_links(flows_[link.users[0].place])) {
      settle_lone_flow(link.users[0].place);
    }
    link.dirty = link.dirty && !link.users.empty(); // purge() has said that nobody fills it
    return !link.dirty;
  });
}

// The two lowest levels among cap and links: the lowest is the flow's own, and without the link
// that gives it the flow would stop at the second.
void ChangingRates::look_at_links(State& state) const {
  state.first = state.cap_level;
  state.second = state.cap_level;
  state.first_link = kNone;
  for (const LinkId id : paths.links(state.flow.path)) {
    const std::uint32_t link = link_of(state.flow.priority, id);
    const double full = links_[link].full;
    if (full < state.first) {
      state.second = state.first;
      state.first = full;
      state.first_link = link;
    } else if (full < state.second) {
      state.second = full;
    }
  }
}

// Filling anew: what the wave had begun is dropped, and all links get the level at which filling
// found them full.
void ChangingRates::solve_all(std::uint32_t priority) {
  ++full_solves_;
  for (const Entry& entry : heap_) {
    links_[entry.link].wrong = false;
  }
  heap_.clear();
  for (const std::uint32_t link : dirty_[priority]) {
    links_[link].dirty = false;
  }
  dirty_[priority].clear();

  members_.clear();
  member_places_.clear();
  for (std::uint32_t place = 0; place < flows_.size(); ++place) {
    const State& state = flows_[place];
    if (state.alive && state.flow.priority == priority) {
      members_.push_back({paths.links(state.flow.path), paths.parts(state.flow.path),
                          state.flow.weight, state.cap_level});
      member_places_.push_back(place);
    }
  }
  member_levels_.resize(members_.size());
  const std::size_t first = link_of(priority, 0);
  left_.resize(capacity_.size());
  for (std::size_t link = 0; link < left_.size(); ++link) {
    left_[link] = links_[first + link].left;
  }
  filling_.fill(left_, capacity_, members_, member_levels_);
  for (const LinkId id : filling_.links()) {
    Link& link = links_[first + id];
    link.full = link.aim = filling_.full_at(id);
    if (classes_ > 1) {
      altered_[priority].push_back(link_of(priority, id));
    }
  }
  for (const std::uint32_t place : member_places_) {
    look_at_links(flows_[place]);
    touch(place);
  }
}

// What this class uses is not there for the later ones.
void ChangingRates::hand_down(std::uint32_t priority) {
  std::vector<std::uint32_t>& altered = altered_[priority];
  if (priority + 1 < classes_) {
    for (const std::uint32_t place : changed_) {
      const Flow& flow = flows_[place].flow;
      if (flow.priority == priority) {
        for (const LinkId id : paths.links(flow.path)) {
          altered.push_back(link_of(priority, id));
        }
      }
    }
    std::sort(altered.begin(), altered.end());
    altered.erase(std::unique(altered.begin(), altered.end()), altered.end());
    for (const std::uint32_t index : altered) {
      Link& link = links_[index];
      link.load = 0;
      for (const User& user : link.users) {
        link.load += user.share * flows_[user.place].first;
      }
      const LinkId id = index % static_cast<std::uint32_t>(capacity_.size());
      double left = capacity_[id];
      // The loads of all classes before a class count, not only of this one.
      for (std::uint32_t later = 0; later < classes_; ++later) {
        Link& other = links_[link_of(later, id)];
        if (later > priority) {
          other.left = left;
          mark(link_of(later, id));
        }
        left -= other.load;
      }
    }
  }
  altered.clear();
}

// What follows a change through the network, in the order of levels.
// Why the result is right: when no link is wrong, the load of a link with finite `full` is all its
// class has there, and its flows that stop there have the highest level on it; so every flow has
// its cap or a bottleneck, and there is one such allocation only. The order of levels makes it
// quick: what happens below a level does not depend on what happens above.

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

// Older entries of a link stay in the heap; solve_changes() knows them by their level.
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

std::span<const std::uint32_t> ChangingRates::solve() {
  purge();
  for (const std::uint32_t place : arrived_) {
    news_ += flows_[place].alive && shares_links(flows_[place]) ? 1 : 0;
  }
  arrived_.clear();
  // A collective's step starts and ends many flows at once: the wave would pass everywhere.
  const bool much = news_ > std::max(kFewFlows, size_ / kFewPerSize);
  news_ = 0;
  for (std::uint32_t priority = 0; priority < classes_; ++priority) {
    settle_lone_flows(priority);
    if (!dirty_[priority].empty() && (much || !solve_changes(priority))) {
      solve_all(priority);
    }
    hand_down(priority);
  }
  result_.clear();
  for (const std::uint32_t place : changed_) {
    State& state = flows_[place];
    state.touched = false;
    const double rate = state.flow.weight * state.first;
    if (state.alive && rate != state.rate) {
      state.rate = rate;
      result_.push_back(place);
    }
  }
  changed_.clear();
  return result_;
}

} // namespace stepsim::links
