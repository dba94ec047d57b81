#pragma once
// The network at the flow level: flows share links at fair rates (flow_rates.hpp), which are
// constant between events. A flow waits for the latency of its path without using bandwidth, then
// its bytes flow until none are left (PKT 6.3). At one instant all ends come first, then all
// begins, both by id, then one solve.
//
//     submit(now, flow)      starts a flow; its path comes from `add_path`
//     next_time()            time of the next begin or end; infinity without one
//     advance(now, done)     advances to `now` <= next_time(); appends ids of flows that end
//
// Flows that are equal but for rounding end together: a flow ends now if its end time is at most
//     min(1e-3 byte / rate, crumb_of_flow size / rate + 1e-15 end time)
// after now. Doubles cannot resolve the last term. Units are bytes, seconds and bytes/s.

#include "events/event_queue.hpp"
#include "links/flow/changing_rates.hpp"
#include "links/flow/finish_times.hpp"

namespace stepsim::links {

// Number of stalled flows that an error message names at most (PKT 12, A27).
inline constexpr std::size_t kMostNamed = 10;

class FlowLevel {
public:
  struct Start {
    std::uint32_t id{}; // chosen by the caller; unique among flows in flight
    std::uint32_t path{};
    double bytes{};
    // Added to the latency of the path; negative if part of that latency has already passed.
    double latency_s{};
    std::uint32_t priority{}; // below `classes`; 0 is served first
    double weight = 1;
    double cap_Bps = std::numeric_limits<double>::infinity();
    double stretch = 1; // its bytes keep the links this many times as long; above 0
  };

  // `crumb_of_flow` is the share of a flow's size within which it ends together with another one.
  explicit FlowLevel(std::vector<double> capacity_Bps, std::uint32_t classes = 1,
                     double crumb_of_flow = 1e-9);

  std::uint32_t add_path(const FlowPath& path) { return rates_.paths.add(path); }

  [[nodiscard]] double path_latency_s(std::uint32_t path) const {
    return rates_.paths.latency_s(path);
  }

  // Starts a flow, `now` not before the last advance() (asserted). A flow of 0 bytes ends at the
  // instant at which it begins.
  void submit(double now, const Start& start);
  [[nodiscard]] double next_time();
  void advance(double now, std::vector<std::uint32_t>& done);

  // Returns the flows in flight that will never end, by id (PKT 6.4): all rates are 0 and no flow
  // is to begin. Empty otherwise.
  [[nodiscard]] std::vector<Start> stalled();

  // Returns the bytes and busy seconds of every link up to `now`, [link]; flows in flight are
  // included with the bytes that they have moved.
  [[nodiscard]] std::vector<LinkUse> link_use(double now) const;
  [[nodiscard]] std::uint64_t solves() const { return solves_; }
  [[nodiscard]] std::uint64_t full_solves() const { return rates_.full_solves(); }

private:
  struct Flow {
    Start start;
    double since{}; // time at which `remaining` was right
    double remaining{};
    double rate{};
    bool under_way = false;
  };
  void begin_all();
  void solve();
  void end(std::uint32_t place);
  void count_senders(const Flow& flow, int change);

  ChangingRates rates_;
  double crumb_of_flow_;
  events::EventQueue<double> begins_; // ids are indices in waiting_
  std::vector<Start> waiting_;
  std::vector<std::uint32_t> free_waiting_;
  std::vector<Start> beginning_; // at now_
  std::vector<Flow> flows_;      // same index as in rates_
  FinishTimes finishes_;
  std::vector<std::uint32_t> ending_;
  struct Link {
    double bytes = 0;
    double busy_s = 0;
    double busy_since = 0;
    std::uint32_t senders = 0;
  };
  std::vector<Link> links_;
  double now_ = 0;
  double next_finish_ = std::numeric_limits<double>::infinity();
  bool stale_ = false;
  std::uint64_t solves_ = 0;
};

} // namespace stepsim::links
