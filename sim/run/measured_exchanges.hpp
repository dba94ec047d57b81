#pragma once
// The bucket times of an imported trace next to those of the scenario's network with as many ranks.
// A measured time includes waiting for the slowest rank, a simulated one does not.
#include <optional>
#include <string>
#include <vector>

#include "run/result.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Empty where the workload is no trace with timed buckets and two or more ranks, for training other
// than sync_sgd, at the packet level, and where the scenario does not tell how long an exchange of
// that many ranks takes: its measured curve or its fabric has another number of ranks, or its
// collective cannot run on that many.
[[nodiscard]] std::vector<MeasuredExchange> measured_exchanges(const Scenario& scenario);

// A warning if the measured time of a bucket is more than 30 % off the simulated one; else empty.
[[nodiscard]] std::optional<std::string> far_exchanges(const Scenario& scenario,
                                                       const std::vector<MeasuredExchange>& all);

} // namespace stepsim::study
