#include "study/sweep/quick_step.hpp"

#include <algorithm>
#include <cmath>

#include "run/run_figures.hpp"

namespace stepsim::study {

QuickStep::QuickStep(const Scenario& scenario, const programs::StepInput& input,
                     double first_ready_s)
    : first_ready_s_(first_ready_s) {
  const layers::Workload& workload = scenario.workload;
  const programs::StepTimes alone = programs::run_step(input);
  alone_period_s_ = alone.period_s;
  forward_total_s_ = alone.forward_s;
  backward_s_ = alone.backward_s;
  update_s_ = input.update_s;
  input_s_ = input.input_s;
  input_pipelined_ = input.input_pipelined;
  barrier_ = input.next_forward == programs::NextForward::barrier;
  forward_work_s_ = workload.forward().value;
  backward_work_s_ = workload.backward().value;
  forward_s_ = input.forward_s;
  update_share_s_ = programs::layer_updates(input);
  update_first_ =
      std::ranges::all_of(input.gradient_bytes, [](double bytes) { return bytes == 0; });
  for (const layers::Gradient& gradient : workload.gradients) {
    total_bytes_ += static_cast<double>(gradient.bytes.value);
    first_layer_bytes_ += gradient.layer == 0 ? static_cast<double>(gradient.bytes.value) : 0;
  }
}

Lanes QuickStep::next_forward(const Lanes& channel_end, std::span<const std::int32_t> row_of,
                              std::span<const Lanes> done) const {
  Lanes start;
  for (std::size_t k = 0; k < buckets::kBatchLanes; ++k) {
    const double finish = channel_end[k] > backward_s_ ? channel_end[k] : backward_s_;
    start[k] =
        barrier_ ? finish + update_s_ : (update_first_ ? backward_s_ + update_s_ : backward_s_);
  }
  return forward_in_lockstep(start, update_share_s_, forward_s_, row_of, done);
}

double QuickStep::waits_until(std::size_t k, double channel_end,
                              std::span<const std::int32_t> row_of,
                              std::span<const Lanes> done) const {
  if (barrier_) {
    return std::max(channel_end, backward_s_);
  }
  double until = 0;
  double time = update_first_ ? backward_s_ + update_s_ : backward_s_;
  for (std::size_t l = 0; l < forward_s_.size(); ++l) {
    const double end = row_of[l] < 0 ? 0 : done[static_cast<std::size_t>(row_of[l])][k];
    until = end > time ? end : until;
    time = (std::max(time, end) + update_share_s_[l]) + forward_s_[l];
  }
  return until;
}

QuickStep::Period QuickStep::period_of(double end) const {
  Period result;
  result.exposed = programs::exposed_communication_s(end, forward_total_s_, backward_s_, update_s_);
  const double busy = forward_total_s_ + backward_s_ + result.exposed;
  const double with_input = input_pipelined_ ? std::max(input_s_, busy) : input_s_ + busy;
  result.period = with_input + update_s_;
  result.input_wait = with_input - busy;
  return result;
}

double QuickStep::lower_bound(double startup_s, double per_byte_s, double slowdown) const {
  double bound = forward_work_s_ + backward_work_s_;
  if (first_layer_bytes_ > 0) {
    const double first_layer = startup_s + per_byte_s * first_layer_bytes_ * slowdown;
    bound = std::max(bound, backward_work_s_ + first_layer + forward_work_s_);
  }
  const double all = startup_s + per_byte_s * total_bytes_ * slowdown;
  return std::max(bound, first_ready_s_ + all + forward_s_.back());
}

bool QuickStep::summarize(const Scenario& scenario, const Period& step, const LaneTotals& totals,
                          std::size_t k, std::int64_t workers, Summary& summary) const {
  const double finish = std::max(totals.channel_end[k], backward_s_);
  const double first_batch = input_pipelined_ ? 0 : input_s_; // read within the first iteration
  const double makespan = first_batch + forward_total_s_ +
                          static_cast<double>(scenario.training.iterations - 1) * step.period +
                          (finish + update_s_);
  if (!std::isfinite(makespan) || makespan > scenario.simulated_limit.value) {
    return false;
  }
  summary.iteration_time_s = step.period;
  summary.forward_s = forward_total_s_;
  summary.backward_s = backward_s_;
  summary.update_s = update_s_;
  summary.codec_compute_s = 0;
  summary.compute_s = forward_total_s_ + backward_s_ + update_s_;
  fill_communication(totals.communication[k], step.exposed, summary);
  summary.wire_bytes = totals.wire[k];
  summary.straggler_wait_s = 0;
  summary.makespan_s = makespan;
  if (step.period > 0) {
    const auto count = static_cast<double>(workers);
    summary.scaling_efficiency = alone_period_s_ / step.period;
    summary.speedup = count * *summary.scaling_efficiency;
    if (scenario.workload.batch_size) {
      summary.samples_per_s =
          count * static_cast<double>(*scenario.workload.batch_size) / step.period;
    }
  }
  summary.input_wait_s = step.input_wait;
  return true;
}

} // namespace stepsim::study
