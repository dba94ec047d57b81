#include "study/sweep/quick_transfers.hpp"

#include <algorithm>
#include <array>

namespace stepsim::study {

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
    const std::size_t begin = layers_end_.empty() ? 0 : layers_end_.back();
    sending_.transfers[g].first_layer =
        *std::min_element(layers_.begin() + static_cast<std::ptrdiff_t>(begin), layers_.end());
    layers_end_.push_back(layers_.size());
  }
}

// Times as those of message_seconds().
void QuickTransfers::send(const LaneCosts& costs, std::size_t lane, double backward_end_s,
                          std::span<Lanes> layer_end_s, LaneTotals& totals) {
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
  static constexpr std::array kFactor{1.0};
  const std::array forward_start{backward_end_s};
  planner_.send(sending_,
                {.ready_s = ready_s_,
                 .backward_end_s = backward_end_s,
                 .forward_start_s = forward_start,
                 .forward_factor = kFactor},
                times_);
  for (Lanes& end : layer_end_s) {
    end[lane] = 0;
  }
  const std::span<const double> done = buckets::done_s(sending_, times_);
  std::size_t next = 0;
  for (std::size_t g = 0; g < layers_end_.size(); ++g) {
    for (; next < layers_end_[g]; ++next) {
      double& end = layer_end_s[layers_[next]][lane];
      end = std::max(end, done[g]);
    }
  }
  totals.channel_end[lane] = times_.finish_s;
  totals.communication[lane] = times_.busy_s;
}

std::vector<programs::Sent> QuickTransfers::sent() const {
  std::vector<programs::Sent> all;
  for (std::size_t g = 0; g < size(); ++g) {
    all.push_back({times_.start_s[g], times_.end_s[g]});
  }
  return all;
}

} // namespace stepsim::study
