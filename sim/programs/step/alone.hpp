#pragma once
// The iteration time of one worker alone, which is the baseline of speed-up and efficiency. It uses
// the same random factors as the run, so that lucky factors do not look like a speed-up, and the
// pace of the fastest worker, so that stragglers slow the run but not the baseline.
//
//   iteration t of worker w              f = pace x random factor of (w, t)
//   input loaded during the iteration    max(f (forward + backward), input) + f update
//   input loaded before the iteration    f (forward + backward) + input + f update
//
// pace is the smallest straggler factor of all workers.

#include "layers/variability.hpp"

namespace stepsim::programs {

struct AloneWork {
  double forward_s{}, backward_s{}, update_s{};
  double input_s{};
  bool input_pipelined = true;
};

// Mean seconds per iteration, over all workers and the iterations first..last (from 1, included).
[[nodiscard]] double alone_seconds(const AloneWork& work, const layers::Jitter& jitter,
                                   std::int64_t first, std::int64_t last);

} // namespace stepsim::programs
