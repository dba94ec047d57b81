#pragma once
// Fair rates (flow_rates.hpp) of flows that start and end, recomputed only where something changes.
//
// Every link stores `full`, the fill level at which it is saturated, or infinity. A flow rises to
// the lowest of its cap and the `full` of its links. `full` of a link follows from the levels at
// which its flows would stop without it:
//     sum_f share_f min(stop_f, full) = capacity
// where stop_f is the level at which flow f would stop without the link, share_f the weight of the
// flow times the fraction of its bytes that crosses the link, and capacity what earlier classes
// leave of the link. `full` depends only on flows that stop below it, so wrong links are corrected
// in the order of their levels, much as shortest paths after a change (Ramalingam, Reps 1996).
// Corrections stop at links whose `full` is already right: the work depends on what changes, not on
// the number of connected flows.
//
// Flows that share no link are handled directly. If many other flows start or end at once, or
// corrections take more work than computing all rates, all rates are computed from scratch. Either
// way, the rates equal those of ProgressiveFilling to about 1e-12.

#include "links/flow/flow_path.hpp"
#include "links/flow/flow_rates.hpp"

namespace stepsim::links {

class ChangingRates {
public:
  struct Flow {
    std::uint32_t path{}; // index in `paths`
    std::uint32_t priority{};
    double weight = 1;
    double cap_Bps = std::numeric_limits<double>::infinity();
  };

  // Needs capacities >= 0 in bytes/s, and priorities of flows below `classes`.
  ChangingRates(std::vector<double> capacity_Bps, std::uint32_t classes);

  PathTable paths;

  // Returns the index of the flow. The index of a removed flow is used again after the next
  // solve().
  std::uint32_t add(const Flow& flow);
  void remove(std::uint32_t place);
  // Computes all rates. Returns the flows whose rate has changed, in a fixed order; a new flow is
  // among them unless its rate is 0.
  std::span<const std::uint32_t> solve();

  // Returns the rate in bytes/s.
  [[nodiscard]] double rate(std::uint32_t place) const { return flows_[place].rate; }
  [[nodiscard]] const Flow& flow(std::uint32_t place) const { return flows_[place].flow; }
  [[nodiscard]] std::size_t size() const { return size_; } // number of flows
  [[nodiscard]] std::size_t links() const { return capacity_.size(); }
  [[nodiscard]] std::uint64_t full_solves() const { return full_solves_; }

private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  // A flow and the two lowest levels that stop it, which determine where it would stop without any
  // one of its links.
  struct State {
    Flow flow;
    double cap_level{};
    double first{};  // lowest of cap and `full` of the links = the level
    double second{}; // lowest level without first_link
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
    double share; // weight of the flow x fraction of its bytes that crosses the link
  };
  struct Link { // a link in one class
    std::vector<User> users;
    double full; // saturation level as flows use it
    double aim;  // right value for the current flows; differs from `full` while the link is wrong
    double left; // bytes/s that earlier classes leave
    double load = 0;       // bytes/s of this class
    bool wrong = false;    // `full` must be set to `aim`
    bool dirty = false;    // `aim` must be recomputed
    bool departed = false; // `users` still lists a flow that was removed
  };
  // A wrong link and the smaller of its `full` and `aim`. Correcting the link changes no flow that
  // stops below this level.
  struct Entry {
    double level;
    std::uint32_t link;
    [[nodiscard]] bool operator<(const Entry& other) const {
      return level > other.level || (level == other.level && link > other.link);
    }
  };

  // Returns the index of a link in links_; every class has separate links.
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
  std::vector<double> stop_, share_; // per user of one link
  std::vector<std::uint32_t> result_;
  std::size_t size_ = 0;
  std::size_t uses_ = 0; // links on the paths of all flows
  std::size_t work_ = 0; // uses that solve_changes() visited
  std::size_t news_ = 0; // flows on shared links that started or ended since the last solve
  std::uint64_t full_solves_ = 0;
  ProgressiveFilling filling_;
  std::vector<ProgressiveFilling::Flow> members_;
  std::vector<std::uint32_t> member_places_;
  std::vector<double> member_levels_, left_;
};

} // namespace stepsim::links
