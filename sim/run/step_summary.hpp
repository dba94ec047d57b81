#pragma once
// The summary of a synchronous step whose workers are alike.
#include <span>

#include "buckets/problem.hpp"
#include "programs/step/step.hpp"
#include "run/bucket_cost.hpp"
#include "run/result.hpp"

namespace stepsim::study {

// The summary of `step`, whose messages have `costs`. `added_s` is the time of selecting and
// encoding on the compute stream, which is part of the step's backward time. `alone_s` is the
// period of the same step without messages, as a single worker would run it.
[[nodiscard]] Summary summarize(const Scenario& scenario, const buckets::Problem& problem,
                                const buckets::Plan& plan, const programs::StepTimes& step,
                                std::span<const BucketCost> costs, double added_s, double alone_s);

// Sets codec_hops of the summary for codecs, select_s .. k for other compression, and nothing for
// dense exchanges.
void fill_compression(const Scenario& scenario, std::span<const BucketCost> costs,
                      Summary& summary);

} // namespace stepsim::study
