#pragma once
// Computes one RingPass phase of one group in vector loops over its ranks. The results equal the
// general sweep of max_plus for all entry times, links and reduction rates:
//   end_i = max(tx_i, rx_(i+1), ready_i) + cost_i,        rank i sends to i + 1
// where cost_i = latency + bytes x per_byte of the link. The send of rank i frees tx_i and rx_(i+1)
// at the same time, so that after the first step
//   end_i = max(end_i', data_i') + cost_i                 ' = previous step
// (with serial additions, rx_(i+1) is free only after the addition at rank i + 1). data_i is the
// time at which rank i may forward the part that it received last: a delay after the end of the
// transfer, during which no port is held, and in a reduce pass after the addition.

#include "collectives/schedule/partition.hpp"

namespace stepsim::collectives {

// Vectors by local rank; times in s. run_ring_pass() takes the state before the phase and leaves
// the state after it.
struct RingState {
  // [i] time at which the send port (tx), the receive port (rx) and the reduction engine (reduced)
  // of rank i are free, and at which it may send on what it has received so far (ready).
  std::vector<double> tx, rx, reduced, ready;
  std::vector<double> latency_s, per_byte_s; // [i] link i -> i + 1
  std::vector<double> delay_s;               // [i] link i -> i + 1
  std::vector<double> reduction_s_per_byte;  // [i] additions at rank i; 0: they take no time
  friend bool operator==(const RingState&, const RingState&) = default;
};

// Runs the pass for at least two ranks (asserted). A ring in which the same sequence of ranks
// repeats, such as the GPUs of equal nodes, is computed for one such sequence only, if all parts
// have the same size. The result is the same to the bit.
void run_ring_pass(RingState& state, const Partition& partition, bool reduce, ReductionMode mode);

} // namespace stepsim::collectives
