#include "study/sweep/sweep_quick.hpp"

#include "base/shared_value.hpp"
#include "run/network_figures.hpp"
#include "run/run_figures.hpp"

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

QuickStep::QuickStep(const Scenario& scenario)
    : forward_total_s_(scenario.workload.forward().value),
      backward_s_(scenario.workload.backward().value), update_s_(scenario.training.update.value),
      input_s_(scenario.training.input.value), input_pipelined_(scenario.training.input_pipelined),
      barrier_(scenario.communication.next_forward == programs::NextForward::barrier) {
  const std::vector<double> bytes = layer_bytes(scenario);
  const auto total_bytes = static_cast<double>(scenario.workload.bytes().value);
  for (const layers::WorkLayer& layer : scenario.workload.layers) {
    update_share_s_.push_back(barrier_ ? 0 : update_s_ * (bytes[forward_s_.size()] / total_bytes));
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

bool QuickStep::summarize(const Scenario& scenario, const Period& step, const LaneTotals& totals,
                          std::size_t k, Summary& summary) const {
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
  fill_speedup(scenario, alone_period_s_, step.period, summary);
  summary.input_wait_s = step.input_wait;
  return true;
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

void QuickCurves::clear() {
  forms_.fill(std::nullopt);
  timed_.clear();
  bound_.fill(0);
}

bool QuickCurves::set(std::size_t lane, const collectives::Collective& exchange) {
  forms_[lane] = collectives::prepare(exchange);
  return forms_[lane].has_value();
}

void QuickCurves::time(std::size_t g, double bytes, Lanes& seconds) {
  const Timed& timed = base::remembered(timed_, bytes, [&] {
    Timed fresh;
    for (std::size_t k = 0; k < forms_.size(); ++k) {
      if (forms_[k]) {
        const collectives::PreparedForm::Answer answer = forms_[k]->at(bytes);
        fresh.seconds[k] = answer.seconds;
        fresh.bound[k] = answer.upper_bound ? 1 : 0;
        fresh.algorithm[k] = answer.algorithm;
      }
    }
    return fresh;
  });
  message_.resize(std::max(message_.size(), g + 1));
  message_[g] = &timed;
  seconds = timed.seconds;
  for (std::size_t k = 0; k < bound_.size(); ++k) {
    bound_[k] += timed.bound[k];
  }
}

collectives::PreparedForm::Answer QuickCurves::send(std::size_t lane, double bytes) {
  const collectives::PreparedForm::Answer answer = forms_[lane]->at(bytes);
  bound_[lane] += answer.upper_bound ? 1 : 0;
  return answer;
}

// What the exchanges of one lane of QuickRun cost: start-up and time per byte, or a curve.

bool QuickRun::set_network(const QuickPoint& point) {
  constexpr std::int64_t kMaxRanks = 1 << 20;
  Cluster& cluster = scenario_.cluster;
  if (point.nodes * cluster.gpus_per_node > kMaxRanks || !cluster.equal_nodes()) {
    return false;
  }
  cluster.nodes = point.nodes;
  cluster.network.latency_s = point.latency_s;
  cluster.network.bandwidth_Bps = point.bandwidth_Bps;
  if (block_follows_) {
    cluster.network.block_latency_s = point.latency_s;
  }
  return cluster.network.block_latency_s <= point.latency_s;
}

// False where the exchange has no form here.
bool QuickRun::fill_costs(const QuickPoint& point, std::size_t k, LaneCosts& costs) {
  if (!set_network(point)) {
    return false;
  }
  costs.ranks[k] = static_cast<double>(scenario_.cluster.ranks());
  costs.startup[k] = costs.per_byte[k] = 0;
  if (scenario_.cluster.ranks() == 1) {
    return !curves_;
  }
  collectives::Collective probe = exchange_of(scenario_);
  probe.bytes = 1;
  if (!probe.homogeneous()) {
    return false;
  }
  if (curves_) {
    return curves_->set(k, probe);
  }
  const auto whole = collectives::closed_form(probe);
  if (!whole || !whole->startup_s || !whole->per_byte_s || whole->upper_bound) {
    return false;
  }
  costs.startup[k] = *whole->startup_s;
  costs.per_byte[k] = *whole->per_byte_s;
  return true;
}

} // namespace stepsim::study
