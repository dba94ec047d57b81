#pragma once
// What a compressed exchange takes on the channel, for planners and for runs.
#include "coll/compress/compressed_exchange.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

// Channel seconds of a compressed exchange, copies and synchronisation included.
struct ChannelTimes {
  double staging_s{}, wire_s{}, merge_s{}, scatter_s{};
};
// Of one that is `wire_s` on the wire and stands for `dense_bytes` of gradients.
[[nodiscard]] ChannelTimes channel_times(const Scenario& scenario,
                                         const coll::CompressedExchange& exchange, double wire_s,
                                         double dense_bytes);

// The cost of a compressed exchange as planners see it: channel seconds as a function of a bucket's
// dense bytes, a line for powersgd and, without a fabric, where codecs give one; else a curve.
// Staging, merge and scatter count in, as they hold the channel.
[[nodiscard]] plan::Cost compressed_cost(const Scenario& scenario);

} // namespace stepsim::study
