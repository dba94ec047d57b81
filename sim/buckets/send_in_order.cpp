// One channel, one message at a time, first in first out. MER 3; the way back: COL 11.
#include "buckets/sending.hpp"

#include <algorithm>

namespace stepsim::buckets {

void size_for(std::size_t transfers, SendTimes& times) {
  times.start_s.resize(transfers);
  times.end_s.resize(transfers);
  times.back_start_s.assign(transfers, 0.0);
  times.back_end_s.assign(transfers, 0.0);
  times.order.clear();
  times.finish_s = 0;
  times.busy_s = 0;
}

void send_forth(const Sending& sending, const SendInput& input, SendTimes& times) {
  size_for(sending.transfers.size(), times);
  double free = input.channel_free_s;
  for (std::size_t g = 0; g < sending.transfers.size(); ++g) {
    const Transfer& transfer = sending.transfers[g];
    const double seconds = input.factor * (transfer.startup_s + transfer.data_s);
    times.start_s[g] = std::max(free, input.ready_s[g]);
    free = times.start_s[g] + seconds;
    times.end_s[g] = free;
    times.busy_s += seconds + input.factor * transfer.back_s;
  }
  times.finish_s = sending.transfers.empty() ? 0.0 : free;
}

void send_back(const Sending& sending, const SendInput& input, SendTimes& times) {
  double free = std::max(times.finish_s, input.backward_end_s) + input.pause_s;
  for (std::size_t g = sending.transfers.size(); g-- > 0;) {
    times.back_start_s[g] = free;
    free += input.factor * sending.transfers[g].back_s;
    times.back_end_s[g] = free;
  }
  times.finish_s = free;
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

void send_in_order(const Sending& sending, const SendInput& input, SendTimes& times) {
  send_forth(sending, input, times);
  if (sending.comes_back && !sending.transfers.empty()) {
    send_back(sending, input, times);
  }
}

} // namespace stepsim::buckets
