#pragma once
// The sending rate of a dlcp connection, as a fraction of the line rate. Feedback of the receiver
// changes it once per round trip (PKT 5.7). A round trip ends with the feedback for a packet that
// was sent after the last change, so one congestion event causes one cut.
//   dctcp    alpha = (1 - g) alpha + g F;  F > 0: R (1 - alpha / 2);  F = 0: R + mtu / RTT
//   timely   by the gradient of the round-trip time
//
// R is the rate, F the fraction of packets since the last change that were marked or are missing,
// and mtu / RTT one full packet per round trip.
#include <cstdint>

#include "links/packet/options.hpp"
#include "links/packet/time.hpp"

namespace stepsim::links {

struct Feedback {
  std::uint32_t tx_index{}; // number of the packet that is answered, from 1 (packet.hpp)
  std::uint32_t arrivals{}; // data packets at the receiver so far
  std::uint32_t marked{};   // how many of them were marked
  Picoseconds rtt{};        // time since that packet was sent
};

class DlcpRate {
public:
  // tau is the transmission time of a full packet at line rate.
  DlcpRate(const DlcpOptions& options, Picoseconds base_rtt, Picoseconds tau)
      : control_(options.rate_control), floor_(options.rate_floor), g_(options.g),
        base_rtt_(static_cast<double>(base_rtt)), tau_(static_cast<double>(tau)),
        alpha_(options.alpha0) {}

  // Handles feedback. `sent` is the index of the last data packet sent so far.
  void feedback(const Feedback& feedback, std::uint32_t sent);
  // Returns the sending rate as a fraction of the line rate.
  [[nodiscard]] double of_line() const { return rate_; }
  [[nodiscard]] double alpha() const { return alpha_; }

private:
  void dctcp(double fraction, double rtt);
  void timely(double rtt);

  RateControl control_;
  double floor_, g_, base_rtt_, tau_;
  double rate_ = 1, alpha_;
  std::uint32_t top_ = 0, arrivals_ = 0, marked_ = 0; // values of the last feedback
  std::uint32_t epoch_ = 0;
  std::uint64_t bad_ = 0, total_ = 0;
  double rtt_ = 0, difference_ = 0; // timely
  std::uint32_t falling_ = 0;       // consecutive round trips that did not grow
};

} // namespace stepsim::links
