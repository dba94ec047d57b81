#pragma once
// The iteration time of one worker alone, which is the baseline of speed-up and efficiency. It uses
// the same random factors as the run, so that lucky factors do not look like a speed-up, and the
// pace of the fastest worker, so that stragglers slow the run but not the baseline.
//
//   iteration t of worker w    f = pace x random factor of (w, t)
//                              f' = pace x random factor of (w, t + 1)
//   one iteration after another          f (forward + backward + update)
//   from backward to backward            f backward + f' (forward + update)
//   input loaded during the iteration    max(f (forward + backward), input) + (f' - f) forward
//                                        + f' update
//   input loaded before the iteration    one of the first two + input
//
// pace is the smallest straggler factor of all workers. Without `to_next_backward` f' = f.
#include <cstdint>

#include "layers/variability.hpp"

namespace stepsim::programs {

struct AloneWork {
  double forward_s{}, backward_s{}, update_s{};
  double input_s{};
  bool input_pipelined = true;
  bool to_next_backward = false; // iterations count from backward to backward (varied_steps.hpp)
};

// Mean seconds per iteration, over all workers and the iterations first..last (from 1, included).
[[nodiscard]] double alone_seconds(const AloneWork& work, const layers::Jitter& jitter,
                                   std::int64_t first, std::int64_t last);

} // namespace stepsim::programs
