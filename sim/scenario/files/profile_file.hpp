#pragma once
// Reads network profiles (kind network_calibration, CAL 5) into links::NetworkProfile. All keys of
// the format are checked, also those that the simulator does not use (residuals, kernels, device).
// An estimate may be a number or {value, low, high}.
#include "document/json.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::io {

// Intervals are checked and dropped; valid ranges are kept, so that a run can report how far it
// extrapolates. Missing values stay empty, and a scenario must then give them. Throws InputError
// with all problems.
[[nodiscard]] links::NetworkProfile parse_profile(const Json& json);

} // namespace stepsim::io
