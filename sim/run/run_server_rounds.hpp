#pragma once
// Runs training with a synchronous parameter server whose workers differ. Every push is timed
// separately, because a late worker finds the server idle.
#include "run/result.hpp"

namespace stepsim::study {

// Whether pushes can be timed separately and it matters. All of these must hold:
//   - a synchronous parameter server with schedule single
//   - /variability changes some time
//   - more than one worker, and bytes to send
//   - /communication/cost_form exact and no measured curve
[[nodiscard]] bool has_server_rounds(const Scenario& scenario);
// Whether this kind of run applies: has_server_rounds(), and `method` is `events` or not given.
[[nodiscard]] bool needs_server_rounds(const Scenario& scenario);
// Needs has_server_rounds(). The method of the result is closed_form if one pass over the pushes
// gives their end (one server, no two levels), else events.
[[nodiscard]] Result run_server_rounds(const Scenario& scenario);

} // namespace stepsim::study
