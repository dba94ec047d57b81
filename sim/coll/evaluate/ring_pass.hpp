#pragma once
// One RingPass phase of one group, in vector loops over its ranks; the same numbers as the general
// sweep of max_plus, whatever the entry times, links and reduction rates:
//   end_i = max(tx_i, rx_(i+1), ready_i) + cost_i,        rank i sends to i + 1
// After the first step a rank's own last send covers both of its ports, so that only
//   end_i = max(end_i', data_i') + cost_i                 ' = step before
// is left, data_i being the time at which the part received last may go on: a delay after the end
// of its transfer, which holds no port.
#include <vector>

#include "coll/collective.hpp"
#include "coll/schedule/partition.hpp"

namespace stepsim::coll {

// Vectors by local rank; times in s. In: state before the phase; out: after it.
struct RingState {
  std::vector<double> tx, rx, reduced, ready; // port free, port free, engine free, data there
  std::vector<double> latency_s, per_byte_s;  // of the link i -> i + 1
  std::vector<double> delay_s;                // of the link i -> i + 1
  std::vector<double> reduction_s_per_byte;   // of rank i
  friend bool operator==(const RingState&, const RingState&) = default;
};

// `folds`: where parts are equal and the ranks of the ring repeat, as those of equal nodes do, one
// of each kind is computed; the same numbers to the bit. Tests turn it off.
void run_ring_pass(RingState& state, const Partition& partition, bool reduce, ReductionMode mode,
                   bool folds = true);

} // namespace stepsim::coll
