#include "study/sweep/quick_step.hpp"

#include "base/shared_value.hpp"
#include "run/network_figures.hpp"
#include "run/run_figures.hpp"
#include "scenario/scenario_exchange.hpp"

namespace stepsim::study {

double chained_s(std::vector<Sent> messages, double until_s) {
  std::erase_if(messages, [](const Sent& each) { return !(each.end_s > each.start_s); });
  std::ranges::sort(messages, {}, &Sent::end_s);
  const auto ending = [&](double time) {
    const auto found = std::ranges::lower_bound(messages, time, {}, &Sent::end_s);
    return found != messages.end() && found->end_s == time ? &*found : nullptr;
  };
  double seconds = 0;
  for (const Sent* last = ending(until_s); last != nullptr; last = ending(last->start_s)) {
    seconds += last->end_s - last->start_s;
  }
  return seconds;
}

QuickStep::QuickStep(const Scenario& scenario, double first_ready_s)
    : forward_total_s_(scenario.workload.forward().value),
      backward_s_(scenario.workload.backward().value), update_s_(scenario.training.update.value),
      input_s_(scenario.training.input.value), input_pipelined_(scenario.training.input_pipelined),
      barrier_(scenario.communication.next_forward == programs::NextForward::barrier),
      total_bytes_(static_cast<double>(scenario.workload.bytes().value)),
      first_ready_s_(first_ready_s) {
  const std::vector<double> bytes = layer_bytes(scenario);
  first_layer_bytes_ = bytes.front();
  for (const layers::WorkLayer& layer : scenario.workload.layers) {
    update_share_s_.push_back(barrier_ ? 0 : update_s_ * (bytes[forward_s_.size()] / total_bytes_));
    forward_s_.push_back(layer.forward.value);
  }
  alone_period_s_ = period_of(0).period;
}

Lanes QuickStep::next_forward(const Lanes& channel_end, std::span<const std::int32_t> row_of,
                              std::span<const Lanes> done) const {
  Lanes start;
  for (std::size_t k = 0; k < buckets::kBatchLanes; ++k) {
    const double finish = channel_end[k] > backward_s_ ? channel_end[k] : backward_s_;
    start[k] = barrier_ ? finish + update_s_ : backward_s_;
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
  double time = backward_s_;
  for (std::size_t l = 0; l < forward_s_.size(); ++l) {
    const double end = row_of[l] < 0 ? 0 : done[static_cast<std::size_t>(row_of[l])][k];
    until = end > time ? end : until;
    time = (std::max(time, end) + update_share_s_[l]) + forward_s_[l];
  }
  return until;
}

QuickStep::Period QuickStep::period_of(double end) const {
  constexpr double kRounding = 1e-12; // of the end, for sums of thousands of layers
  Period result;
  const double computing = forward_total_s_ + backward_s_;
  const double beyond = end - computing - update_s_;
  const double longer = beyond > kRounding * end ? beyond : 0.0;
  // A batch is read while nothing else happens, or at the same time.
  const double busy = computing + longer;
  result.period = (input_pipelined_ ? std::max(input_s_, busy) : input_s_ + busy) + update_s_;
  result.input_wait = input_pipelined_ ? std::max(0.0, input_s_ - computing) : input_s_;
  result.exposed = std::max(0.0, longer - (input_pipelined_ ? result.input_wait : 0));
  return result;
}

double QuickStep::lower_bound(double startup_s, double per_byte_s, double slowdown) const {
  double bound = forward_total_s_ + backward_s_;
  if (first_layer_bytes_ > 0) {
    const double first_layer = startup_s + per_byte_s * first_layer_bytes_ * slowdown;
    bound = std::max(bound, backward_s_ + first_layer + forward_total_s_);
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

QuickTransfers::QuickTransfers(const buckets::Planner& planner,
                               const buckets::ScheduleOptions& options)
    : planner_(planner) {
  sending_.options = options;
}

void QuickTransfers::set_plan(const buckets::Plan& plan, const layers::Workload& workload) {
  sending_.transfers.resize(plan.groups.size());
  ready_s_.resize(plan.groups.size());
  layers_.clear();
  layers_end_.clear();
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const buckets::Group& group = plan.groups[g];
    sending_.transfers[g].bytes = static_cast<double>(group.bytes.value);
    ready_s_[g] = group.ready.value;
    for (const std::uint32_t item : group.items) {
      layers_.push_back(workload.gradients[item].layer);
    }
    layers_end_.push_back(layers_.size());
  }
}

// Times as those of time_buckets().
void QuickTransfers::send(const LaneCosts& costs, std::size_t lane, std::span<Lanes> layer_end_s,
                          LaneTotals& totals) {
  double latency = totals.latency[lane];
  double bandwidth = totals.bandwidth[lane];
  double reduction = totals.reduction[lane];
  for (buckets::Transfer& transfer : sending_.transfers) {
    const double seconds = costs.startup[lane] + costs.per_byte[lane] * transfer.bytes;
    transfer.startup_s = std::min(costs.startup[lane], seconds);
    transfer.data_s = seconds - transfer.startup_s;
    latency += costs.latency[lane];
    bandwidth += costs.bandwidth[lane] * transfer.bytes;
    reduction += costs.reduction[lane] * transfer.bytes;
  }
  totals.latency[lane] = latency;
  totals.bandwidth[lane] = bandwidth;
  totals.reduction[lane] = reduction;
  planner_.send(sending_, {.ready_s = ready_s_}, times_);
  for (Lanes& end : layer_end_s) {
    end[lane] = 0;
  }
  std::size_t next = 0;
  for (std::size_t g = 0; g < layers_end_.size(); ++g) {
    for (; next < layers_end_[g]; ++next) {
      double& end = layer_end_s[layers_[next]][lane];
      end = std::max(end, times_.end_s[g]);
    }
  }
  totals.channel_end[lane] = times_.finish_s;
  totals.communication[lane] = times_.busy_s;
}

std::vector<Sent> QuickTransfers::sent() const {
  std::vector<Sent> all;
  for (std::size_t g = 0; g < size(); ++g) {
    all.push_back({times_.start_s[g], times_.end_s[g]});
  }
  return all;
}

// A ring sends every part but one in its reduce-scatter and in its all-gather.
double WireBytes::most(const Scenario& scenario, collectives::AlgorithmId algorithm, double bytes,
                       double ranks) {
  if (ranks <= 1) {
    return 0;
  }
  if (algorithm == collectives::AlgorithmId::ring) {
    const double sent = bytes - bytes / ranks;
    return sent + sent;
  }
  return base::remembered(known_, {algorithm, ranks, bytes}, [&] {
    collectives::Collective collective = exchange_of(scenario);
    collective.ranks = static_cast<std::uint32_t>(ranks);
    collective.algorithm = algorithm;
    collective.bytes = bytes;
    return collectives::most_sent(collective);
  });
}

double WireBytes::total(const Scenario& scenario, std::span<const double> bytes, double ranks) {
  return base::remembered(totals_, ranks, [&] {
    double sum = 0;
    for (const double each : bytes) {
      sum += most(scenario, scenario.communication.collective, each, ranks);
    }
    return sum;
  });
}

double WireBytes::total_by(
    const Scenario& scenario,
    const std::function<collectives::AlgorithmId(std::size_t message)>& algorithm_of,
    std::span<const double> bytes, double ranks) {
  double sum = 0;
  std::optional<collectives::AlgorithmId> last;
  std::vector<double>* known = nullptr;
  for (std::size_t g = 0; g < bytes.size(); ++g) {
    const collectives::AlgorithmId algorithm = algorithm_of(g);
    if (algorithm != last) {
      known = &messages_[{algorithm, ranks}];
      known->resize(bytes.size(), std::numeric_limits<double>::quiet_NaN());
      last = algorithm;
    }
    double& sent = (*known)[g];
    if (std::isnan(sent)) {
      sent = most(scenario, algorithm, bytes[g], ranks);
    }
    sum += sent;
  }
  return sum;
}

} // namespace stepsim::study
