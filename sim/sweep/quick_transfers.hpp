#pragma once
// The messages of one point of QuickRun under a schedule that does not send them one at a time
// (asc_wfbp, priority). They are sent by the function of the schedule, one point after another; the
// times and their sums have the bits of train::run_step().
#include <cstdint>
#include <span>
#include <vector>

#include "plan/planners.hpp"
#include "plan/sending.hpp"
#include "sweep/quick_lanes.hpp"
#include "train/workload/workload.hpp"

namespace stepsim::study {

class QuickTransfers {
public:
  // `planner` must outlive the object.
  QuickTransfers(const plan::Planner& planner, const plan::ScheduleOptions& options);

  // Takes over the buckets of a plan of the gradients of `workload`.
  void set_plan(const plan::Plan& plan, const train::Workload& workload);
  // Sends them at the costs of a lane; sets the end of each layer's last message and adds to the
  // totals.
  void send(const LaneCosts& costs, std::size_t lane, double backward_end_s,
            std::span<Lanes> layer_end_s, LaneTotals& totals);
  [[nodiscard]] std::size_t size() const { return ready_s_.size(); }
  [[nodiscard]] double bytes(std::size_t message) const {
    return sending_.transfers[message].bytes;
  }

private:
  const plan::Planner& planner_;
  plan::Sending sending_;
  plan::SendTimes times_;
  std::vector<double> ready_s_;         // [message]
  std::vector<std::uint32_t> layers_;   // of all messages, one list after another
  std::vector<std::size_t> layers_end_; // [message]: end of its list
};

} // namespace stepsim::study
