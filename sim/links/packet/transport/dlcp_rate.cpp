// Rates are fractions of the line, from a small floor to 1, set once per window of packets: the
// next epoch ends with the last packet sent so far, so that each decision sees the effect of the
// one before.
#include "links/packet/transport/dlcp.hpp"

namespace stepsim::links {

// Feedback counts from the beginning: differences say what happened since the last one, whatever
// feedback was lost or overtaken. Packets that did not arrive count as marked.
void DlcpRate::feedback(const Feedback& feedback, std::uint32_t sent_so_far) {
  if (feedback.tx_index <= top_) {
    return;
  }
  const std::uint32_t sent = feedback.tx_index - top_;
  const std::uint32_t delivered = feedback.arrivals - arrivals_;
  const std::uint32_t marked = feedback.marked - marked_;
  bad_ += std::min(sent, marked + (sent > delivered ? sent - delivered : 0));
  total_ += sent;
  top_ = feedback.tx_index;
  arrivals_ = feedback.arrivals;
  marked_ = feedback.marked;
  if (feedback.tx_index <= epoch_) {
    return;
  }
  const double fraction = static_cast<double>(bad_) / static_cast<double>(total_);
  bad_ = 0;
  total_ = 0;
  epoch_ = sent_so_far;
  switch (control_) {
  case RateControl::none:
    break;
  case RateControl::dctcp:
    dctcp(fraction, static_cast<double>(feedback.rtt));
    break;
  case RateControl::timely:
    timely(static_cast<double>(feedback.rtt));
    break;
  }
}

// As DCTCP: a cut by half the average marked part, else one packet more per round trip.
void DlcpRate::dctcp(double fraction, double rtt) {
  alpha_ = (1 - g_) * alpha_ + g_ * fraction;
  rate_ = fraction > 0 ? std::max(floor_, rate_ * (1 - alpha_ / 2))
                       : std::min(1.0, rate_ + tau_ / std::max(base_rtt_, rtt));
}

// As TIMELY (Mittal et al., 2015): by the gradient of the round trip, within bounds of its length;
// five rounds in which it does not grow raise the rate faster.
void DlcpRate::timely(double rtt) {
  const double step = 1.0 / 64;
  difference_ = 0.125 * difference_ + 0.875 * (rtt_ == 0 ? 0 : rtt - rtt_);
  rtt_ = rtt;
  const double gradient = difference_ / base_rtt_;
  const bool between = rtt >= 2 * base_rtt_ && rtt <= 10 * base_rtt_;
  falling_ = between && gradient <= 0 ? falling_ + 1 : 0;
  if (rtt < 2 * base_rtt_) {
    rate_ += step;
  } else if (rtt > 10 * base_rtt_) {
    rate_ *= 1 - 0.8 * (1 - 10 * base_rtt_ / rtt);
  } else if (gradient <= 0) {
    rate_ += falling_ >= 5 ? 5 * step : step;
  } else {
    rate_ *= std::max(0.5, 1 - 0.8 * gradient);
  }
  rate_ = std::clamp(rate_, floor_, 1.0);
}

} // namespace stepsim::links
