#pragma once
// The cost of a compressed exchange on the channel, for planners and for runs.

#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// Seconds that a compressed exchange occupies the channel, with copies and synchronisation.
struct ChannelTimes {
  double staging_s{}, wire_s{}, merge_s{}, scatter_s{};
};
// The times of an exchange that takes `wire_s` on the wire, for `dense_bytes` of gradients.
[[nodiscard]] ChannelTimes channel_times(const Scenario& scenario,
                                         const collectives::CompressedExchange& exchange,
                                         double wire_s, double dense_bytes);

// Wire seconds of the messages of `exchange` by the measured cost of the scenario, which stays only
// where they are dense ones (fp16); empty without such a cost.
[[nodiscard]] std::optional<double>
measured_seconds(const Scenario& scenario, const collectives::CompressedExchange& exchange);

// The cost of a compressed exchange for planners: channel seconds, with staging, merge and scatter,
// as a function of the dense bytes of a bucket. It is a line for powersgd and, without a fabric,
// for dense methods and codecs whose times lie on a line; else a curve.
[[nodiscard]] buckets::Cost compressed_cost(const Scenario& scenario);
// The same over the links of `base` instead of those of exchange_of(scenario). `value_bytes` are
// those of a value of the workload.
[[nodiscard]] buckets::Cost
compressed_cost(const Scenario& scenario, const collectives::Collective& base, double value_bytes);

} // namespace stepsim::study
