#pragma once
// The bucket times of an imported trace next to those of the scenario's network with as many ranks:
// what the trace saw holds waiting for the slowest rank, what is simulated does not.
#include <optional>
#include <string>
#include <vector>

#include "run/result.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Empty where the workload is no trace with timed buckets and a rank count of two or more, and
// where nothing says how long an exchange of that many ranks takes: a measured curve of another
// rank count, a fabric with other ranks.
[[nodiscard]] std::vector<MeasuredExchange> measured_exchanges(const Scenario& scenario);

// The warning where one of them differs by more than 30 %; empty otherwise.
[[nodiscard]] std::optional<std::string> far_exchanges(const Scenario& scenario,
                                                       const std::vector<MeasuredExchange>& all);

} // namespace stepsim::study
