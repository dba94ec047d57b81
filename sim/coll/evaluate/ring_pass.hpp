#pragma once
// Computes one RingPass phase of one group in vector loops over its ranks. The results equal the
// general sweep of max_plus for all entry times, links and reduction rates:
//   end_i = max(tx_i, rx_(i+1), ready_i) + cost_i,        rank i sends to i + 1
// After the first step, a rank's own last send covers both of its ports, which leaves
//   end_i = max(end_i', data_i') + cost_i                 ' = previous step
// data_i is the time at which rank i may forward the part that it received last: a delay after the
// end of its transfer, during which no port is held.
#include <vector>

#include "coll/collective.hpp"
#include "coll/schedule/partition.hpp"

namespace stepsim::coll {

// Vectors by local rank; times in s. Holds the state before the phase, and after it on return.
struct RingState {
  std::vector<double> tx, rx, reduced, ready; // ports and engine free, data arrived
  std::vector<double> latency_s, per_byte_s;  // [i] link i -> i + 1
  std::vector<double> delay_s;                // [i] link i -> i + 1
  std::vector<double> reduction_s_per_byte;   // [i] rank i
  friend bool operator==(const RingState&, const RingState&) = default;
};

// Runs the pass. With `folds`, if parts are equal and the ranks of the ring repeat, as with equal
// nodes, one rank of each kind is computed; the result is the same to the bit. Tests turn it off.
void run_ring_pass(RingState& state, const Partition& partition, bool reduce, ReductionMode mode,
                   bool folds = true);

} // namespace stepsim::coll
