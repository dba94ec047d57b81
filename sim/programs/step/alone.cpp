#include "programs/step/alone.hpp"

#include <cassert>

namespace stepsim::programs {

namespace {

double iteration_s(const AloneWork& work, double factor) {
  const double busy = factor * work.backward_s + factor * work.forward_s;
  const double with_input =
      work.input_pipelined ? std::max(busy, work.input_s) : busy + work.input_s;
  return with_input + factor * work.update_s;
}

} // namespace

double alone_seconds(const AloneWork& work, const layers::Jitter& jitter, std::int64_t first,
                     std::int64_t last) {
  const std::uint32_t workers = jitter.workers();
  assert(workers >= 1 && first >= 1 && last >= first && "a run has workers and iterations");
  const double pace = jitter.fastest();
  if (jitter.variability().compute_cv <= 0) {
    return iteration_s(work, pace);
  }
  double sum = 0;
  for (std::uint32_t w = 0; w < workers; ++w) {
    const double own = pace / jitter.straggler(w);
    for (std::int64_t t = first; t <= last; ++t) {
      sum += iteration_s(work, own * jitter.compute(w, t));
    }
  }
  return sum / (static_cast<double>(workers) * static_cast<double>(last - first + 1));
}

} // namespace stepsim::programs
