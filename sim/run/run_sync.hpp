#pragma once
// Synchronous training by a step of compute and messages: every planner, DeAR, priority,
// reduce and broadcast, compressed exchanges, workers that differ.
#include <optional>
#include <vector>

#include "coll/evaluate/sent_bytes.hpp"
#include "plan/problem.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"
#include "train/step/step.hpp"

namespace stepsim::study {

// Also synchronous parameter servers whose workers are alike. Without random factors and stragglers
// all iterations have the steady period; that the first waits for nothing shows in the makespan
// alone. Where workers differ every iteration has times of its own, and buckets, layers and the
// timeline are those of equal workers. Throws SimulationError as the evaluators do.
[[nodiscard]] Result run_sync(const Scenario& scenario);

// What runs share whose scenarios differ in their network and number of nodes only.
class SyncParts {
public:
  explicit SyncParts(const Scenario& scenario);

  // Summary, method and warnings of run_sync(scenario), bit for bit; no lists, and no scenario
  // but for its variability. Not with compression, slowdown by overlap, or a fabric.
  [[nodiscard]] Result summary(const Scenario& scenario);

private:
  plan::Problem problem_;          // its cost is that of the run
  train::StepInput bare_;          // the step without messages
  double alone_s_;                 // its period
  coll::SentBytes sent_;           // bytes of messages
  std::optional<plan::Plan> plan_; // of a schedule that does not look at costs, and its step
  train::StepInput step_;
};

} // namespace stepsim::study
