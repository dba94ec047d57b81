#pragma once
// Sizes and drop class of the data packets of a message, by their index; all packets but the last
// are full.
//   wire = payload + header + overhead
// Source: PKT 3.2, 5.1, 5.6.
#include <queue>
#include <tuple>
#include <utility>

#include "base/random.hpp"
#include "links/packet/message.hpp"

namespace stepsim::links {

inline constexpr std::uint64_t kMagnitudeStream = 4; // random stream of DropRule::Kind::by_size

struct MessageShape {
  std::uint32_t packets{};
  std::uint16_t full_payload{}, last_payload{};
  std::uint16_t extra_bytes{}; // header and overhead
  bool protected_ect = false;  // protected packets are ECN-capable
  DropRule rule{};
};

[[nodiscard]] inline DropClass drop_class(const DropRule& rule, std::uint32_t seq,
                                          std::uint64_t seed) {
  switch (rule.kind) {
  case DropRule::Kind::all_protected:
    return DropClass::protected_;
  case DropRule::Kind::every:
    return seq % rule.every == rule.offset ? DropClass::protected_ : DropClass::droppable;
  case DropRule::Kind::by_size: {
    const double draw =
        base::u01(seed, kMagnitudeStream, rule.iteration, rule.worker, rule.tensor, seq);
    return draw < rule.large_fraction ? rule.large : rule.small;
  }
  }
  return DropClass::protected_;
}

[[nodiscard]] inline std::uint16_t payload_of(const MessageShape& shape, std::uint32_t seq) {
  return seq + 1 == shape.packets ? shape.last_payload : shape.full_payload;
}

// Sets sizes, class and ECN capability of data packet `seq` of the message.
inline void shape_data(Packet& packet, const MessageShape& shape, std::uint32_t seq,
                       std::uint64_t seed) {
  packet.payload = payload_of(shape, seq);
  packet.wire = static_cast<std::uint16_t>(packet.payload + shape.extra_bytes);
  packet.drop_class = drop_class(shape.rule, seq, seed);
  packet.ect = shape.protected_ect && packet.drop_class == DropClass::protected_;
}

// Background load: every host sends flows to other hosts at random times.
//   arrivals      Poisson per host, rate = load x bandwidth of its fastest link / mean size
//   destination   any other host, with equal probability
//   size          fixed, or by a distribution: F(bytes) linear between its points
// Random numbers are of stream 6: hash(seed, 6, host, arrival, what), what = 0 gap, 1 destination,
// 2 size, so they do not depend on other traffic. Source: PKT 3.6, 7.5.

struct BackgroundOptions {
  double load = 0;                            // in [0, 1), fraction of the hosts' links
  std::vector<std::pair<double, double>> cdf; // (bytes, F): bytes ascending, F strictly, up to 1
  TransportKind transport = TransportKind::dctcp;
};

// Returns, for each host, the bytes per second that it offers: `load` times the bandwidth of its
// fastest link.
[[nodiscard]] std::vector<double> offered_Bps(const Fabric& fabric,
                                              const BackgroundOptions& options);
// Returns the mean size of a flow. No flow is smaller than the first point (bytes, F) of the
// distribution, and a fraction F of the flows has exactly its size.
[[nodiscard]] double mean_bytes(const BackgroundOptions& options);
// Returns the size at which the distribution reaches `part` in [0, 1).
[[nodiscard]] double bytes_at(const BackgroundOptions& options, double part);

struct BackgroundFlow {
  NodeId src{}, dst{};
  std::int64_t bytes{}; // >= 1
  double start_s{};
};

// The arrivals in the order of their starts: endless if load > 0 and there are at least two hosts,
// else none. Only the next arrival of each host is stored, so memory does not grow with the run.
// `options` must outlive the object.
class BackgroundArrivals {
public:
  BackgroundArrivals(const Fabric& fabric, const BackgroundOptions& options, std::uint64_t seed);
  [[nodiscard]] bool none() const { return next_.empty(); }
  // Returns the start of the next arrival in s from the start of the run; there must be one (none()
  // is false).
  [[nodiscard]] double next_s() const { return std::get<0>(next_.top()); }
  BackgroundFlow take(); // removes and returns the next arrival

private:
  using Arrival = std::tuple<double, NodeId, std::uint64_t>; // time, host, number
  void push(double after_s, NodeId host, std::uint64_t number);

  const BackgroundOptions& options_;
  std::uint64_t seed_;
  std::vector<double> rate_; // [host] flows per second
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> next_;
};

} // namespace stepsim::links
