#include "programs/step/alone.hpp"

#include <algorithm>
#include <cassert>

namespace stepsim::programs {

namespace {

double iteration_s(const AloneWork& work, double factor, double next_factor) {
  const double forward_factor = work.to_next_backward ? next_factor : factor;
  const double update = forward_factor * work.update_s;
  if (!work.input_pipelined) {
    return factor * work.backward_s + forward_factor * work.forward_s + update + work.input_s;
  }
  // What loading is hidden behind: this iteration's own forward and backward.
  const double busy = factor * (work.forward_s + work.backward_s);
  return std::max(busy, work.input_s) + (forward_factor - factor) * work.forward_s + update;
}

} // namespace

double alone_seconds(const AloneWork& work, const layers::Jitter& jitter, std::int64_t first,
                     std::int64_t last) {
  const std::uint32_t workers = jitter.workers();
  assert(workers >= 1 && first >= 1 && last >= first && "a run has workers and iterations");
  const double pace = jitter.fastest();
  if (jitter.variability().compute_cv <= 0) {
    return iteration_s(work, pace, pace);
  }
  double sum = 0;
  for (std::uint32_t w = 0; w < workers; ++w) {
    const double own = pace / jitter.straggler(w);
    double factor = own * jitter.compute(w, first);
    for (std::int64_t t = first; t <= last; ++t) {
      const double next = own * jitter.compute(w, t + 1);
      sum += iteration_s(work, factor, next);
      factor = next;
    }
  }
  return sum / (static_cast<double>(workers) * static_cast<double>(last - first + 1));
}

} // namespace stepsim::programs
