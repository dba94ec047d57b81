// One channel, one message at a time, first in first out. MER 3.

#include "buckets/sending.hpp"

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

// How far the clock moves until a message that alone takes `data_s` seconds has been sent.
double clock_span(ChannelShares shares, double data_s) {
  return shares == ChannelShares::equal ? data_s : data_s > 0 ? 1.0 : 0.0;
}

// Seconds per unit of the clock while messages are in their data phase.
double unit_s(const AtOnce& channel) {
  return channel.shares == ChannelShares::equal
             ? 1 + channel.contention * static_cast<double>(channel.moving - 1)
             : channel.moving_s;
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

// The first message to enter its data phase, and the first to end; null without one.
struct Next {
  const Underway *starting = nullptr, *ending = nullptr;
  double start_s = kNever, end_s = kNever;
};

Next next_of(const AtOnce& channel, std::span<const Underway> underway) {
  Next next;
  for (const Underway& each : underway) {
    const Underway*& first = each.moving ? next.ending : next.starting;
    if (first == nullptr || each.until < first->until) {
      first = &each;
    }
  }
  if (next.starting != nullptr) {
    next.start_s = next.starting->until;
  }
  if (next.ending != nullptr) {
    next.end_s =
        std::max(channel.now, channel.now + (next.ending->until - channel.clock) * unit_s(channel));
  }
  return next;
}

} // namespace

void move_to(AtOnce& channel, double time) {
  if (channel.moving > 0 && time > channel.now) {
    channel.clock += (time - channel.now) / unit_s(channel);
  }
  channel.now = time;
}

void start(const AtOnce& channel, std::vector<Underway>& underway, std::int64_t message,
           double startup_s, double data_s) {
  underway.push_back(
      {.message = message, .moving = false, .until = channel.now + startup_s, .data_s = data_s});
}

double next_change(const AtOnce& channel, std::span<const Underway> underway) {
  const Next next = next_of(channel, underway);
  return std::min(next.start_s, next.end_s);
}

std::int64_t next_end(AtOnce& channel, std::vector<Underway>& underway, double limit) {
  while (!underway.empty()) {
    const Next next = next_of(channel, underway);
    if (std::min(next.start_s, next.end_s) > limit) {
      break;
    }
    // Ends first, then starts; times may be beyond the range of numbers.
    if (next.ending != nullptr && !(next.start_s < next.end_s)) {
      channel.clock = next.ending->until;
      channel.now = next.end_s;
      const std::int64_t message = next.ending->message;
      underway.erase(underway.begin() + (next.ending - underway.data()));
      count_moving(underway, channel);
      return message;
    }
    move_to(channel, next.start_s);
    Underway& starting = underway[static_cast<std::size_t>(next.starting - underway.data())];
    starting.moving = true;
    starting.until = channel.clock + clock_span(channel.shares, starting.data_s);
    count_moving(underway, channel);
  }
  if (limit < kNever && limit > channel.now) {
    move_to(channel, limit);
  }
  return -1;
}

} // namespace stepsim::buckets
