#pragma once
// The loops of QuickRun over messages and layers: kBatchLanes points in lockstep, one vector lane
// each. Lanes without a point hold any numbers. Seconds and bytes.
#include <cstdint>
#include <span>

#include "buckets/batch.hpp"

namespace stepsim::study {

using Lanes = buckets::BatchLanes;

// The exchange of n bytes takes startup + per_byte n, of which the parts are latency,
// bandwidth n and reduction n.
struct LaneCosts {
  Lanes startup{}, per_byte{};
  Lanes latency{}, bandwidth{}, reduction{};
  Lanes ranks{};
};

// Sums over the messages of a plan.
struct LaneTotals {
  Lanes channel_end{}, communication{};
  Lanes latency{}, bandwidth{}, reduction{}, wire{};
};

// Sends messages one after the other and returns the sums without `wire`; end_s[g] is when message
// g ends.
[[nodiscard]] LaneTotals send_in_lockstep(std::span<const double> ready_s,
                                          std::span<const double> bytes, const LaneCosts& costs,
                                          std::span<Lanes> end_s);

// Sends one message, which takes seconds[k] on lane k, behind those before it: updates channel_end
// and communication of `totals`, and sets when it ends.
void send_timed(double ready_s, const Lanes& seconds, LaneTotals& totals, Lanes& end_s);

// The next forward pass from the times `start_s`: layer l waits for row row_of[l] of `done_s`, or
// for nothing where that is negative, is updated and computed (programs/step/step.cpp). Returns
// when it ends.
[[nodiscard]] Lanes forward_in_lockstep(const Lanes& start_s, std::span<const double> update_s,
                                        std::span<const double> forward_s,
                                        std::span<const std::int32_t> row_of,
                                        std::span<const Lanes> done_s);

} // namespace stepsim::study
