#include "study/sweep/quick_curves.hpp"

#include "base/vector_clones.hpp"

namespace stepsim::study {

namespace {

constexpr std::size_t kLanes = buckets::kBatchLanes;

STEPSIM_VECTOR_CLONES
void send_message(double ready, double bytes, const LaneCosts& __restrict costs,
                  LaneTotals& __restrict sums, Lanes& __restrict ended) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double end = sums.channel_end[k];
    const double start = end > ready ? end : ready;
    const double seconds = costs.startup[k] + costs.per_byte[k] * bytes;
    sums.channel_end[k] = start + seconds;
    ended[k] = start + seconds;
    sums.communication[k] += seconds;
    sums.latency[k] += costs.latency[k];
    sums.bandwidth[k] += costs.bandwidth[k] * bytes;
    sums.reduction[k] += costs.reduction[k] * bytes;
  }
}

STEPSIM_VECTOR_CLONES
void send_one(double ready, const Lanes& __restrict seconds, Lanes& __restrict channel_end,
              Lanes& __restrict communication, Lanes& __restrict ended) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double end = channel_end[k];
    const double start = end > ready ? end : ready;
    channel_end[k] = start + seconds[k];
    ended[k] = start + seconds[k];
    communication[k] += seconds[k];
  }
}

STEPSIM_VECTOR_CLONES
void pass_layer(double update, double forward, const Lanes& __restrict done,
                Lanes& __restrict time) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double start = time[k] > done[k] ? time[k] : done[k];
    time[k] = (start + update) + forward;
  }
}

} // namespace

LaneTotals send_in_lockstep(std::span<const double> ready_s, std::span<const double> bytes,
                            const LaneCosts& costs, std::span<Lanes> end_s) {
  LaneTotals sums;
  for (std::size_t g = 0; g < ready_s.size(); ++g) {
    send_message(ready_s[g], bytes[g], costs, sums, end_s[g]);
  }
  return sums;
}

void send_timed(double ready_s, const Lanes& seconds, LaneTotals& totals, Lanes& end_s) {
  send_one(ready_s, seconds, totals.channel_end, totals.communication, end_s);
}

Lanes forward_in_lockstep(const Lanes& start_s, std::span<const double> update_s,
                          std::span<const double> forward_s, std::span<const std::int32_t> row_of,
                          std::span<const Lanes> done_s) {
  static constexpr Lanes kNothing{};
  Lanes time = start_s;
  for (std::size_t l = 0; l < forward_s.size(); ++l) {
    const Lanes& done = row_of[l] < 0 ? kNothing : done_s[static_cast<std::size_t>(row_of[l])];
    pass_layer(update_s[l], forward_s[l], done, time);
  }
  return time;
}

} // namespace stepsim::study
