#pragma once
// Buckets, layers, iterations and links of a result.
#include <span>
#include <vector>

#include "plan/problem.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"
#include "train/step/step.hpp"

namespace stepsim::study {

// Buckets without times.
[[nodiscard]] std::vector<Bucket> plain_buckets(const Scenario& scenario, const plan::Plan& plan,
                                                std::span<const BucketCost> costs);

// Buckets with the times of a step, from the start of the iteration.
[[nodiscard]] std::vector<Bucket> bucket_list(const Scenario& scenario, const plan::Plan& plan,
                                              const train::StepTimes& step,
                                              std::span<const BucketCost> costs);

[[nodiscard]] std::vector<LayerResult>
layer_list(const Scenario& scenario, const train::StepInput& input, const train::StepTimes& step);
[[nodiscard]] std::vector<Iteration> iteration_list(const Scenario& scenario,
                                                    const train::StepTimes& step);

// The use of every link by all iterations, where buckets went over a fabric one by one.
void fill_links(std::span<const BucketCost> costs, Result& result);

} // namespace stepsim::study
