#pragma once
// Fair rates (flow_rates.hpp) of flows that come and go, recomputed only where something changes.
//
// Every link remembers the level at which it is full: `full`, infinity if it is not. A flow rises
// to the lowest of its cap and the `full` of its links; `full` of a link follows from where its
// flows would stop without it:  sum_f share_f min(stop_f, full) = capacity,  where stop_f is the
// level at which flow f would stop without the link, share_f its weight times the part of it that
// crosses the link, and capacity what the classes before leave. It depends on flows that stop below
// it only, so wrong links are put right in the order of their levels, much as
// shortest paths after a change (Ramalingam, Reps 1996). A link whose `full` is right already stops
// the wave: work goes with what changes, not with all flows that are connected somehow.
//
// A flow that shares no link needs none of that. Where many others come or go at once, or a wave
// takes more work than computing all rates, they are computed from scratch. In both cases rates are
// those of flow_rates to about 1e-12.
#include <cstdint>
#include <span>
#include <vector>

#include "net/flow/flow_path.hpp"
#include "net/flow/flow_rates.hpp"

namespace stepsim::net {

class ChangingRates {
public:
  struct Flow {
    std::uint32_t path{}; // of `paths`
    std::uint32_t priority{};
    double weight = 1;
    double cap_Bps = std::numeric_limits<double>::infinity();
  };

  // Capacities >= 0, bytes/s; priorities are below `classes`.
  ChangingRates(std::vector<double> capacity_Bps, std::uint32_t classes);

  PathTable paths;

  // A place for the flow. Places are used again after the next solve() that follows remove().
  std::uint32_t add(const Flow& flow);
  void remove(std::uint32_t place);
  // Computes all rates. Returns the places whose rate has changed, in a fixed order; a new flow is
  // one of them unless its rate is 0.
  std::span<const std::uint32_t> solve();

  // Bytes/s.
  [[nodiscard]] double rate(std::uint32_t place) const { return flows_[place].rate; }
  [[nodiscard]] const Flow& flow(std::uint32_t place) const { return flows_[place].flow; }
  [[nodiscard]] std::size_t size() const { return size_; } // flows
  [[nodiscard]] std::size_t links() const { return capacity_.size(); }
  [[nodiscard]] std::uint64_t full_solves() const { return full_solves_; }

private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  // A flow and the two lowest levels that stop it, from which follows where it would stop without
  // any one of its links.
  struct State {
    Flow flow;
    double cap_level{};
    double first{};  // lowest of cap and `full` of the links = the level
    double second{}; // lowest without first_link
    std::uint32_t first_link = kNone;
    bool alive = false;
    bool touched = false; // listed in changed_
    double rate{};
    // Fill level at which the flow would freeze without this link.
    [[nodiscard]] double stop_without(std::uint32_t link) const {
      return link == first_link ? second : first;
    }
  };
  struct User {
    std::uint32_t place;
    double share; // weight times part
  };
  struct Link { // of one class
    std::vector<User> users;
    double full; // as flows see it
    double aim;  // what it should be, given the flows; equal once right
    double left; // capacity for this class
    double load = 0;
    bool wrong = false; // aim is not full
    bool dirty = false; // aim to be found anew
    bool departed = false;
  };
  // A link that is wrong, by the level up to which everything is right without it.
  struct Entry {
    double level;
    std::uint32_t link;
    [[nodiscard]] bool operator<(const Entry& other) const {
      return level > other.level || (level == other.level && link > other.link);
    }
  };

  // Every class has links of its own.
  [[nodiscard]] std::uint32_t link_of(std::uint32_t priority, LinkId link) const {
    return priority * static_cast<std::uint32_t>(capacity_.size()) + link;
  }
  void touch(std::uint32_t place);
  void mark(std::uint32_t link);
  void purge();
  [[nodiscard]] bool shares_links(const State& state) const;
  void settle_lone_flow(std::uint32_t place);
  void settle_lone_flows(std::uint32_t priority);
  void look_at_links(State& state) const;
  [[nodiscard]] double find_aim(std::uint32_t link);
  void renew_aims(std::uint32_t priority);
  void set_full(std::uint32_t link, double value);
  [[nodiscard]] bool solve_changes(std::uint32_t priority);
  void solve_all(std::uint32_t priority);
  void hand_down(std::uint32_t priority);

  std::vector<double> capacity_;
  std::uint32_t classes_;
  std::vector<Link> links_; // [class * links + link]
  std::vector<State> flows_;
  std::vector<std::uint32_t> free_, arrived_, departed_;
  std::vector<std::uint32_t> changed_;
  std::vector<std::vector<std::uint32_t>> dirty_;   // [class] links
  std::vector<std::vector<std::uint32_t>> altered_; // [class] links whose load may differ
  std::vector<Entry> heap_;
  std::vector<double> stop_, share_; // of the users of one link
  std::vector<std::uint32_t> result_;
  std::size_t size_ = 0;
  std::size_t uses_ = 0; // links on the paths of all flows
  std::size_t work_ = 0; // uses looked at by solve_changes
  std::size_t news_ = 0; // flows that share links and came or went since the last solve
  std::uint64_t full_solves_ = 0;
  ProgressiveFilling filling_;
  std::vector<ProgressiveFilling::Flow> members_;
  std::vector<std::uint32_t> member_places_;
  std::vector<double> member_levels_, left_;
};

} // namespace stepsim::net
