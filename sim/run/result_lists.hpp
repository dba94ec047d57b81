#pragma once
// Makes the lists of a result: buckets, layers, iterations and links.
#include <span>
#include <vector>

#include "buckets/problem.hpp"
#include "programs/step/step.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// The buckets of a plan, without times.
[[nodiscard]] std::vector<Bucket> plain_buckets(const Scenario& scenario, const buckets::Plan& plan,
                                                std::span<const BucketCost> costs);

// The buckets of a plan with the times of a step, in seconds from the start of the iteration.
[[nodiscard]] std::vector<Bucket> bucket_list(const Scenario& scenario, const buckets::Plan& plan,
                                              const programs::StepTimes& step,
                                              std::span<const BucketCost> costs);

[[nodiscard]] std::vector<LayerResult> layer_list(const Scenario& scenario,
                                                  const programs::StepInput& input,
                                                  const programs::StepTimes& step);
[[nodiscard]] std::vector<Iteration> iteration_list(const Scenario& scenario,
                                                    const programs::StepTimes& step);

// Sets result.links, the use of every link by all iterations, and result.heat, if buckets were
// exchanged over a fabric one after the other. result.buckets and the makespan must be set.
void fill_links(const Scenario& scenario, std::span<const BucketCost> costs, Result& result);

} // namespace stepsim::study
