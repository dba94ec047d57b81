#pragma once
// Background load: every host sends flows to others, at random times, whatever else goes on.
//   arrivals    Poisson, rate = load x bandwidth of the host / mean size, from t = 0
//   to          any other host alike
//   size        fixed, or by a distribution: F(bytes) linear between its points
// Draws are of stream 6: hash(seed, 6, host, arrival, what), what = 0 gap, 1 destination, 2 size;
// so they depend on nothing that happens in the network. Source: PKT 3.6, 7.5.
#include <cstdint>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "net/fabric/fabric.hpp"
#include "net/packet/options.hpp"

namespace stepsim::net {

struct BackgroundOptions {
  double load = 0;                            // in [0, 1), of the hosts' links
  std::vector<std::pair<double, double>> cdf; // (bytes, F), both ascending, F ends at 1
  TransportKind transport = TransportKind::dctcp;
};

// Bytes per second that a host offers: `load` of its fastest link.
[[nodiscard]] std::vector<double> offered_Bps(const Fabric& fabric,
                                              const BackgroundOptions& options); // [host]
// Mean size of a flow. The share F of the first point is all of that point's size.
[[nodiscard]] double mean_bytes(const BackgroundOptions& options);
// The size at which the distribution reaches `part` in [0, 1).
[[nodiscard]] double bytes_at(const BackgroundOptions& options, double part);

struct BackgroundFlow {
  NodeId src{}, dst{};
  std::int64_t bytes{}; // >= 1
  double start_s{};
};

// Arrivals in the order of starts; without end if load > 0 and there are two hosts. One arrival per
// host waits in a queue, so that memory does not grow with the run. `options` must outlive this
// object.
class BackgroundArrivals {
public:
  BackgroundArrivals(const Fabric& fabric, const BackgroundOptions& options, std::uint64_t seed);
  [[nodiscard]] bool none() const { return next_.empty(); }
  // Start of the next arrival, s from the begin of the run; there is none if none().
  [[nodiscard]] double next_s() const { return std::get<0>(next_.top()); }
  BackgroundFlow take(); // that arrival

private:
  using Arrival = std::tuple<double, NodeId, std::uint64_t>; // time, host, number
  void push(double after_s, NodeId host, std::uint64_t number);

  const BackgroundOptions& options_;
  std::uint64_t seed_;
  std::vector<double> rate_; // [host] flows per second
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> next_;
};

} // namespace stepsim::net
