#pragma once
// The conditions of a run, and what its interval consists of, in words.
#include <string>
#include <string_view>

#include "run/result.hpp"

namespace stepsim::cli {

// What the run takes real training to lose: "typical: 1.040 ms more per message, ..".
[[nodiscard]] std::string conditions_text(const study::Scenario& scenario);
// "c_cloud (rate of TCP between rented machines, bytes/s)"
// `factor`: the name of a part of an interval.
[[nodiscard]] std::string part_text(std::string_view factor);

} // namespace stepsim::cli
