#include "buckets/sending.hpp"

#include <algorithm>

namespace stepsim::buckets {

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
