#pragma once
// The summary of a synchronous step whose workers are alike.
#include <span>

#include "plan/problem.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"
#include "train/step/step.hpp"

namespace stepsim::study {

// Up to this share of the period, exposed communication is too little to be the bottleneck.
inline constexpr double kHiddenShare = 0.01;

// `added_s`: selecting and encoding on the compute stream, part of the step's backward. `alone_s`:
// the period of one worker, the same step without messages.
[[nodiscard]] Summary summarize(const Scenario& scenario, const plan::Problem& problem,
                                const plan::Plan& plan, const train::StepTimes& step,
                                std::span<const BucketCost> costs, double added_s, double alone_s);

// select_s .. k of the summary; nothing for dense exchanges.
void fill_compression(const Scenario& scenario, std::span<const BucketCost> costs,
                      Summary& summary);

} // namespace stepsim::study
