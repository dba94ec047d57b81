#include "study/sweep/quick_step.hpp"

#include "base/vector_clones.hpp"

namespace stepsim::study {

namespace {

constexpr std::size_t kLanes = buckets::kBatchLanes;

STEPSIM_VECTOR_CLONES
void pass_layer(double update, double forward, const Lanes& __restrict done,
                Lanes& __restrict time) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double start = time[k] > done[k] ? time[k] : done[k];
    time[k] = (start + update) + forward;
  }
}

} // namespace

STEPSIM_VECTOR_CLONES
void send_message(double ready_s, double bytes, const LaneCosts& __restrict costs,
                  LaneTotals& __restrict totals, Lanes& __restrict end_s) {
  for (std::size_t k = 0; k < kLanes; ++k) {
    const double end = totals.channel_end[k];
    const double start = end > ready_s ? end : ready_s;
    const double seconds = costs.startup[k] + costs.per_byte[k] * bytes;
    totals.channel_end[k] = start + seconds;
    end_s[k] = start + seconds;
    totals.communication[k] += seconds;
  }
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
