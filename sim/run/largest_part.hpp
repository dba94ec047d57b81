#pragma once
// The bottleneck of an exchange: which of its parts takes longest. With alpha-beta links each part
// is timed with the cost of the others set to 0; on a fabric and with compression parts are
// differences of two times. A measured curve has no parts: its bottleneck is named bandwidth.
#include <span>
#include <string>

#include "plan/problem.hpp"
#include "run/bucket_cost.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// "latency", "bandwidth", "reduction" or, only for compressed exchanges, "compression". `plan` has
// a message; costs[g] belongs to its group g.
[[nodiscard]] std::string largest_part(const Scenario& scenario, const plan::Plan& plan,
                                       std::span<const BucketCost> costs);

} // namespace stepsim::study
