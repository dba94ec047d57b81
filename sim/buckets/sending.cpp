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

namespace {

double unit_s(const AtOnce& channel) {
  return clock_unit_s(channel.shares, channel.contention, channel.moving, channel.moving_s);
}

// Counted anew, so that no rounding is left over.
void count_moving(const std::vector<Underway>& underway, AtOnce& channel) {
  channel.moving = 0;
  channel.moving_s = 0;
  for (const Underway& each : underway) {
    channel.moving += each.moving ? 1 : 0;
    channel.moving_s += each.moving ? each.data_s : 0;
  }
}

void move_to(AtOnce& channel, double time) {
  if (channel.moving > 0 && time > channel.now) {
    channel.clock += (time - channel.now) / unit_s(channel);
  }
  channel.now = time;
}

} // namespace

void start(const AtOnce& channel, std::vector<Underway>& underway, std::uint32_t transfer,
           double startup_s, double data_s) {
  underway.push_back(
      {.transfer = transfer, .moving = false, .until = channel.now + startup_s, .data_s = data_s});
}

std::int64_t next_end(AtOnce& channel, std::vector<Underway>& underway, double limit) {
  while (!underway.empty()) {
    Underway* starting = nullptr;
    Underway* ending = nullptr;
    for (Underway& each : underway) {
      Underway*& first = each.moving ? ending : starting;
      if (first == nullptr || each.until < first->until) {
        first = &each;
      }
    }
    const double startup_end = starting != nullptr ? starting->until : kNever;
    const double data_end =
        ending != nullptr
            ? std::max(channel.now, channel.now + (ending->until - channel.clock) * unit_s(channel))
            : kNever;
    if (std::min(startup_end, data_end) > limit) {
      break;
    }
    // Ends first, then starts; times may be beyond the range of numbers.
    const bool ends = ending != nullptr && (starting == nullptr || !(startup_end < data_end));
    if (ends) {
      channel.clock = ending->until;
      channel.now = data_end;
      const std::uint32_t transfer = ending->transfer;
      underway.erase(underway.begin() + (ending - underway.data()));
      count_moving(underway, channel);
      return transfer;
    }
    move_to(channel, startup_end);
    starting->moving = true;
    starting->until = channel.clock + clock_span(channel.shares, starting->data_s);
    count_moving(underway, channel);
  }
  if (limit < kNever && limit > channel.now) {
    move_to(channel, limit);
  }
  return -1;
}

} // namespace stepsim::buckets
