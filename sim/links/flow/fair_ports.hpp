#pragma once
// Transfers that share ports (network interfaces, server ports). A transfer waits for its latency
// without using a port; then its bytes flow at the max-min fair rate over its ports
// (flow_rates.hpp), at most 1 / per_byte_s. Rates change whenever the bytes of a transfer begin or
// end, and are computed again for those transfers alone that the change can reach over shared
// ports. A transfer ends when all of its bytes are sent. If one transfer ends now, so do all others
// whose remaining time is at most 1e-12 of the time that their bytes take, because they differ by
// rounding only.
#include <array>

#include "links/flow/flow_rates.hpp"
#include "links/network_model.hpp"

namespace stepsim::links {

class FairPorts {
public:
  // Flows that share both of their ports with the same flows alone get their rate without a look at
  // the others, if all capacities are equal. Tests switch these `shortcuts` off to compare.
  explicit FairPorts(std::vector<double> capacity_Bps, bool shortcuts = true);

  void submit(double now, const Transfer& transfer);
  [[nodiscard]] double next_time(); // computes rates if transfers began or ended
  void advance(double now, std::vector<std::uint32_t>& done);

private:
  // A transfer. A run with many transfers visits these records in random order and mostly waits for
  // memory, so that a record is kept to 72 bytes.
  struct Flow {
    std::uint64_t
        number{}; // 1, 2, .. in the order in which bytes began; 0 = they have not, or free
    double finish{};
    double begin{}; // when its bytes begin
    std::uint32_t id{};
    std::array<std::uint32_t, 2> port_pair{kNoPort, kNoPort}; // of the sender and the receiver
    double per_byte_s{};
    double since{};     // time at which `remaining` was right
    double remaining{}; // bytes
    double rate_Bps{};
    [[nodiscard]] std::span<const std::uint32_t> ports() const {
      const std::size_t first = port_pair[0] == kNoPort ? 1 : 0;
      return {port_pair.data() + first, (port_pair[1] == kNoPort ? 1 : 2) - first};
    }
  };
  // When a flow ends at its present rate; out of date if the flow has another number or finish.
  struct End {
    double finish{};
    std::uint64_t number{};
    std::uint32_t flow{};
  };
  // Entry of the heap: ends at one time, which are a list in `listed_`.
  struct EndsAt {
    double finish{};
    std::uint32_t first{}, last{};
  };
  struct Listed {
    std::uint64_t number{};
    std::uint32_t flow{};
    std::uint32_t next = kNone;
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  void begin_bytes(double now, std::uint32_t flow);
  void end_bytes(std::uint32_t flow);
  void end_flows(double now, std::vector<std::uint32_t>& done);
  void solve();
  void gather(std::uint32_t flow);
  void gather_changed();
  [[nodiscard]] bool share_alone();
  void set_rates(std::span<const double> rates);
  [[nodiscard]] bool is_current(const End& end) const;
  // Appends an end behind the heap `ends_`: to the last entry from `begin` on, if that has the same
  // time, else as an entry, which the caller has to push into the heap.
  void append(const End& end, std::size_t begin);
  // Calls see(end) for the ends of an entry that was taken from the heap, and frees its list.
  template <class See> void take(const EndsAt& entry, const See& see);
  void push_from(std::size_t begin); // entries into the heap
  void find_next_end();
  std::vector<double> capacities_;    // bytes/s
  bool equal_ports_;                  // all capacities are equal, and shortcuts are taken
  events::EventQueue<double> begins_; // ends of latencies; ids are indices in flows_
  std::vector<Flow> flows_;           // transfers, and free places
  std::vector<std::uint32_t> free_flows_;
  std::size_t flowing_ = 0;                          // transfers whose bytes flow
  std::vector<std::vector<std::uint32_t>> flows_at_; // [ports] indices in flows_
  std::vector<EndsAt> ends_;                         // heap, the earliest ends first
  std::vector<Listed> listed_;                       // and free entries, from free_listed_ on
  std::uint32_t free_listed_ = kNone;
  std::vector<End> ended_, kept_; // of end_flows()
  std::uint64_t begun_ = 0;
  // Where flows began or ended since rates were computed: ports, and flows without a port.
  std::vector<std::uint32_t> changed_ports_, changed_flows_;
  // What solve() reaches from there over shared ports; the stamps say what it has seen already.
  std::vector<std::uint32_t> reached_ports_, reached_flows_;
  std::vector<std::uint64_t> port_seen_, flow_seen_;
  std::uint64_t solved_ = 0;
  ProgressiveFilling filling_;
  std::vector<ProgressiveFilling::Flow> uses_; // of the reached flows
  std::vector<double> rates_;                  // of the same
  double now_ = 0;
  double next_finish_ = kNever;
};

static_assert(NetworkModel<FairPorts>);

} // namespace stepsim::links
