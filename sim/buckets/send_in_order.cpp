// One channel, one message at a time, first in first out. MER 3.
#include "buckets/sending.hpp"

#include <algorithm>

namespace stepsim::buckets {

void size_for(std::size_t transfers, SendTimes& times) {
  times.start_s.resize(transfers);
  times.end_s.resize(transfers);
  times.order.clear();
  times.finish_s = 0;
  times.busy_s = 0;
}

void send_in_order(const Sending& sending, const SendInput& input, SendTimes& times) {
  size_for(sending.transfers.size(), times);
  double free = input.channel_free_s;
  for (std::size_t g = 0; g < sending.transfers.size(); ++g) {
    const Transfer& transfer = sending.transfers[g];
    const double seconds = transfer.startup_s + transfer.data_s;
    times.start_s[g] = std::max(free, input.ready_s[g]);
    free = times.start_s[g] + seconds;
    times.end_s[g] = free;
    times.busy_s += seconds;
  }
  times.finish_s = sending.transfers.empty() ? 0.0 : free;
}

double busy_seconds(const SendTimes& times) {
  double busy = 0;
  double until = 0;
  for (std::size_t i = 0; i < times.start_s.size(); ++i) {
    const std::size_t g = times.order.empty() ? i : times.order[i];
    busy += std::max(0.0, times.end_s[g] - std::max(until, times.start_s[g]));
    until = std::max(until, times.end_s[g]);
  }
  return busy;
}

} // namespace stepsim::buckets
