#pragma once
// The pieces that `run` puts together. Internal to study.
#include <span>
#include <string>
#include <vector>

#include "plan/problem.hpp"
#include "study/result.hpp"
#include "study/run.hpp"
#include "study/scenario.hpp"
#include "train/step.hpp"

namespace stepsim::study {

// The ways to run a scenario; `run` picks one. Limits are checked there.
[[nodiscard]] Result run_sync(const Scenario& scenario);

// How long one message of the plan holds the channel, copies left out.
struct MessageSeconds {
  double exchange{};  // all-reduce, or the reduce of reduce_broadcast
  double broadcast{}; // reduce_broadcast only
};

// The operation of the first exchange: allreduce, or reduce with reduce_broadcast.
[[nodiscard]] coll::Op exchange_op(const Communication& communication);

// Everything of a step but its messages: one worker of its own.
[[nodiscard]] train::StepInput step_input(const Scenario& scenario);
// With the messages of a plan, `seconds` per group; copies are added here.
[[nodiscard]] train::StepInput step_input(const Scenario& scenario, const plan::Plan& plan,
                                          std::span<const MessageSeconds> seconds);

// Lists of the result.
[[nodiscard]] std::vector<Bucket> bucket_list(const Scenario& scenario, const plan::Plan& plan,
                                              const train::StepTimes& step,
                                              std::span<const std::string> algorithms);
[[nodiscard]] std::vector<LayerResult> layer_list(const Scenario& scenario,
                                                  const train::StepTimes& step);
[[nodiscard]] std::vector<Iteration> iteration_list(const Scenario& scenario,
                                                    const train::StepTimes& step);

[[nodiscard]] Summary summarize(const Scenario& scenario, const plan::Problem& problem,
                                const plan::Plan& plan, const train::StepTimes& step,
                                double wire_bytes);

} // namespace stepsim::study
