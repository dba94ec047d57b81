#include "sweep/quick_transfers.hpp"

#include <algorithm>

namespace stepsim::study {

QuickTransfers::QuickTransfers(const plan::Planner& planner, const plan::ScheduleOptions& options)
    : planner_(planner) {
  sending_.options = options;
}

void QuickTransfers::set_plan(const plan::Plan& plan, const train::Workload& workload) {
  sending_.transfers.resize(plan.groups.size());
  ready_s_.resize(plan.groups.size());
  layers_.clear();
  layers_end_.clear();
  for (std::size_t g = 0; g < plan.groups.size(); ++g) {
    const plan::Group& group = plan.groups[g];
    sending_.transfers[g].bytes = static_cast<double>(group.bytes.value);
    ready_s_[g] = group.ready.value;
    for (const std::uint32_t item : group.items) {
      layers_.push_back(workload.gradients[item].layer);
    }
    layers_end_.push_back(layers_.size());
  }
}

void QuickTransfers::send(const LaneCosts& costs, std::size_t lane, double backward_end_s,
                          std::span<Lanes> layer_end_s, LaneTotals& totals) {
  for (plan::Transfer& transfer : sending_.transfers) {
    const double seconds = costs.startup[lane] + costs.per_byte[lane] * transfer.bytes;
    transfer.startup_s = std::min(costs.startup[lane], seconds);
    transfer.data_s = seconds - transfer.startup_s;
    totals.latency[lane] += costs.latency[lane];
    totals.bandwidth[lane] += costs.bandwidth[lane] * transfer.bytes;
    totals.reduction[lane] += costs.reduction[lane] * transfer.bytes;
  }
  planner_.send(sending_, {.ready_s = ready_s_, .backward_end_s = backward_end_s}, times_);
  totals.channel_end[lane] = times_.finish_s;
  totals.communication[lane] = times_.busy_s;
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
}

} // namespace stepsim::study
