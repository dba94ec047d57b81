#include "programs/step/pipeline.hpp"

namespace stepsim::programs {

std::int64_t applied_gradient(std::int64_t t, std::int64_t width, std::int64_t warmup_iterations,
                              WarmupSwitch how) {
  assert(t >= 1 && width >= 1 && warmup_iterations >= 0 && "iterations from 1");
  if (t <= warmup_iterations || width == 1) {
    return t - 1;
  }
  const std::int64_t since = t - warmup_iterations; // 1 = the first step after the switch
  if (warmup_iterations > 0 && how == WarmupSwitch::block) {
    assert(width == 2 && "the block switch is defined for width 2");
    return since == 1 ? t - 1 : since == 2 ? 0 : t - 2;
  }
  // Of the first width - 1 steps after a warm-up the gradients t - width are applied already.
  return t <= width || (warmup_iterations > 0 && since < width) ? 0 : t - width;
}

std::int64_t applied_gradient(const PipelineSteps& steps, std::int64_t t) {
  return applied_gradient(t, steps.width, steps.warmup_iterations, steps.warmup_switch);
}

std::int64_t pending_gradients(const PipelineSteps& steps) {
  // Of the last two steps one applies, and the last that does applies the highest index; in the
  // skipped steps of a switch it is further back.
  for (std::int64_t t = steps.iterations; t >= 1; --t) {
    const std::int64_t applied = applied_gradient(steps, t);
    if (applied > 0 || t <= steps.warmup_iterations) {
      return steps.iterations - applied;
    }
  }
  return steps.iterations;
}

layers::StalenessCounts pipeline_staleness(const PipelineSteps& steps, bool drain) {
  layers::StalenessCounts counts;
  for (std::int64_t t = 1; t <= steps.iterations; ++t) {
    const std::int64_t applied = applied_gradient(steps, t);
    if (applied > 0) {
      counts.add(t - 1 - applied);
    }
  }
  if (drain) { // steps T + 1, .. apply the pending gradients in order
    const std::int64_t pending = pending_gradients(steps);
    for (std::int64_t i = 0; i < pending; ++i) {
      counts.add(pending - 1);
    }
  }
  return counts;
}

double pipeline_period(double compute_s, double exchange_s, std::int64_t width,
                       double compute_slowdown) {
  if (width == 1) {
    return compute_s + exchange_s;
  }
  return std::max(exchange_s, compute_s + exchange_s * (1 - 1 / compute_slowdown));
}

} // namespace stepsim::programs
