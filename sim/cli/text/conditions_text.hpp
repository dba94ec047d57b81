#pragma once
// The conditions of a run, and what its interval consists of, in words.
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

// What the run takes real training to lose: "typical: 1.040 ms more per message, ..".
[[nodiscard]] std::string conditions_text(const study::Scenario& scenario);
// "c_cloud (rate of TCP between rented machines, bytes/s)"
[[nodiscard]] std::string part_text(const study::IntervalPart& part);

} // namespace stepsim::cli
