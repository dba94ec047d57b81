#pragma once
// The bottleneck of an exchange: which of its parts takes longest, found by taking the others away.
#include <span>
#include <string>

#include "plan/problem.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Which part of the messages takes longest: latency, bandwidth, reduction or compression.
[[nodiscard]] std::string largest_part(const Scenario& scenario, const plan::Plan& plan,
                                       std::span<const BucketCost> costs);

} // namespace stepsim::study
