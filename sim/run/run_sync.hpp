#pragma once
// Synchronous training as one step of compute and messages that repeats. It covers every schedule
// (buckets/planners.hpp), exchanges by all-reduce or by reduce and broadcast, compressed exchanges,
// and workers that differ.
#include <optional>
#include <vector>

#include "buckets/problem.hpp"
#include "collectives/evaluate/sent_bytes.hpp"
#include "layers/variability.hpp"
#include "programs/step/step.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// Runs sync_sgd, and parameter_server in mode sync unless run_server_rounds() takes it. If all
// workers are equal, every iteration has the steady period; only the makespan shows that the first
// iteration waits for no earlier exchange. If workers differ, every iteration has its own times,
// but the buckets, layers and timeline are computed for equal workers (kEqualWorkers). Throws
// SimulationError where the evaluator of a collective throws it (max_plus.hpp, events.hpp).
[[nodiscard]] Result run_sync(const Scenario& scenario, Detail detail = Detail::all);

// The parts of a run that are computed once for all scenarios that differ only in their network and
// their number of nodes.
class SyncParts {
public:
  explicit SyncParts(const Scenario& scenario);

  // Returns the summary, method and warnings of run_sync(scenario), bit for bit. The result has no
  // lists except, if workers differ, `iterations` and `workers`, and of the scenario only its
  // variability. Not for scenarios with compression, slowdown by overlap, or a fabric.
  [[nodiscard]] Result summary(const Scenario& scenario);

private:
  buckets::Problem problem_;    // gradients of all scenarios, cost of the current one
  programs::StepInput bare_;    // the step without messages
  double alone_s_;              // period of `bare_`, s
  collectives::SentBytes sent_; // cache of sent bytes by size of message
  std::optional<buckets::Plan>
      plan_; // last plan; used again if the schedule does not read the cost
  std::optional<layers::Jitter> jitter_; // of the last number of workers and seed
  programs::StepInput step_;             // the step with the messages of `plan_`
};

} // namespace stepsim::study
