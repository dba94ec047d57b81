#pragma once
// Finds the bottleneck of the messages of a plan: the part of their time that is longest. With
// alpha-beta links each part is timed with the costs of the other parts set to 0. On a fabric or
// with compression, a part is the difference of two times; with both, the times on the wire are
// compared with the times of compressing. A measured curve has no parts; its bottleneck is
// "bandwidth".
#include <span>
#include <string>

#include "plan/problem.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// "latency", "bandwidth", "reduction" or, for compressed exchanges only, "compression". `plan` must
// have a message; costs[g] belongs to group g of `plan`.
[[nodiscard]] std::string largest_part(const Scenario& scenario, const plan::Plan& plan,
                                       std::span<const BucketCost> costs);

} // namespace stepsim::study
