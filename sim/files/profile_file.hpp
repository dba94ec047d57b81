#pragma once
// Network profiles (kind network_calibration, CAL 5) into net::NetworkProfile. All keys of
// the format are checked; what the simulator does not use (residuals, kernels, device) is read only
// to be validated. A latency may be a number or {value, low, high}.
#include "net/profile/profile.hpp"
#include "json/json.hpp"

namespace stepsim::io {

// Intervals are checked and dropped; ranges of validity are kept, so that a run can say how far it
// leaves them. What is absent stays empty: a scenario then has to give it.
// Throws InputError with all problems found.
[[nodiscard]] net::NetworkProfile parse_profile(const Json& json);

} // namespace stepsim::io
