#pragma once
// The messages of one point of QuickRun under a schedule that does not send them one at a time
// (asc_wfbp, priority). They are sent by the function of the schedule, one point after
// another; the times and their sums have the bits of programs::run_step().
#include <cstdint>
#include <span>
#include <vector>

#include "buckets/planners.hpp"
#include "buckets/sending.hpp"
#include "layers/workload.hpp"
#include "programs/step/step.hpp"
#include "study/sweep/quick_lanes.hpp"

namespace stepsim::study {

class QuickTransfers {
public:
  // `planner` must outlive the object.
  QuickTransfers(const buckets::Planner& planner, const buckets::ScheduleOptions& options);

  // Takes over the buckets of a plan of the gradients of `workload`.
  void set_plan(const buckets::Plan& plan, const layers::Workload& workload);
  // Sends them at the costs of a lane. Sets the end of each layer's last message, and of `totals`
  // channel_end and communication; adds to its latency, bandwidth and reduction, and leaves wire.
  void send(const LaneCosts& costs, std::size_t lane, double backward_end_s,
            std::span<Lanes> layer_end_s, LaneTotals& totals);
  // The messages as they were last sent.
  [[nodiscard]] std::vector<programs::Sent> sent() const;
  [[nodiscard]] std::size_t size() const { return ready_s_.size(); }
  [[nodiscard]] double bytes(std::size_t message) const {
    return sending_.transfers[message].bytes;
  }

private:
  const buckets::Planner& planner_;
  buckets::Sending sending_;
  buckets::SendTimes times_;
  std::vector<double> ready_s_;         // [message]
  std::vector<std::uint32_t> layers_;   // of all messages, one list after another
  std::vector<std::size_t> layers_end_; // [message]: end of its list
};

} // namespace stepsim::study
