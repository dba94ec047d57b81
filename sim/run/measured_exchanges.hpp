#pragma once
// Compares the bucket times in an imported trace with simulated times on the scenario's network,
// with the number of ranks of the trace. A measured time includes waiting for the slowest rank; a
// simulated time does not.

#include "run/result.hpp"

namespace stepsim::study {

// One element per timed bucket, simulated as a dense all-reduce, whatever the compression of the
// scenario. Empty if
//   - the workload is not a trace with timed buckets of two or more ranks
//   - the training algorithm is not sync_sgd, or the network is simulated at the packet level
//   - the exchange cannot be simulated with the ranks of the trace: the measured curve or the
//     fabric has another number of ranks, nodes cannot be filled evenly, or the collective cannot
//     run on so many ranks
[[nodiscard]] std::vector<MeasuredExchange> measured_exchanges(const Scenario& scenario);

// The warning that the measured time of a bucket differs from the simulated one by more than 30 %;
// empty if no bucket does.
[[nodiscard]] std::optional<std::string> far_exchanges(const Scenario& scenario,
                                                       const std::vector<MeasuredExchange>& all);

// A step that was measured on the same cluster with another number of machines corrects the
// prediction (CON 5): the asked time by the same ratio, with what both runs have in common taken
// out of its interval.

// `measured` is the run of the scenario that was measured. Throws UsageError if one of the two runs
// is on one machine and the other on several: the first says too little about the second.
[[nodiscard]] MeasuredTotal corrected_by(const Result& asked, const Result& measured,
                                         double measured_s);

} // namespace stepsim::study
