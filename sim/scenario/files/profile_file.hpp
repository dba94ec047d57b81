#pragma once
// Reads network profiles (kind network_calibration, CAL 5) into links::NetworkProfile. All keys of
// the format are checked, also those that the simulator does not use (residuals, kernels, device).
// An estimate may be a number or {value, low, high}.

#include "document/reader.hpp"
#include "links/profile/profile.hpp"

namespace stepsim::io {

// Intervals are checked and dropped; valid ranges are kept, so that a run can report how far it
// extrapolates. Missing values stay empty, and a scenario must then give them. Throws InputError
// with all problems.
[[nodiscard]] links::NetworkProfile parse_profile(const Json& json);

// Reads the parts of a profile about training: how much longer dense all-reduces took than the
// network model predicts, compression costs, and timed kernels (SPA 9, CAL 5). Used by
// parse_profile() only.

// Each function reads one key of the file if it is present, and reports problems through `fields`;
void parse_dense_inflation(Fields& fields, links::NetworkProfile& profile);
void parse_compression_costs(Fields& fields, links::NetworkProfile& profile);

} // namespace stepsim::io
