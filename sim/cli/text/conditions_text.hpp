#pragma once
// The conditions of a run, and what its interval consists of, in words.
#include <string>
#include <string_view>

#include "run/result.hpp"

namespace stepsim::cli {

// What the run takes real training to lose: "typical: a message costs 1.040 ms more, ..".
[[nodiscard]] std::string conditions_text(const study::Scenario& scenario);
// "c_cloud (rate of TCP between rented machines, bytes/s)"
// "one step of 412.0 ms with /cluster/nodes=4, predicted 389.1 ms: 431.2 ms here (401.2 to 462.0)"
[[nodiscard]] std::string measured_text(const study::MeasuredTotal& total);
// `factor`: the name of a part of an interval.
[[nodiscard]] std::string part_text(std::string_view factor);

} // namespace stepsim::cli
