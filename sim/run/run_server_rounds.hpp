#pragma once
// Synchronous parameter servers whose workers differ: every push is timed by itself, because a
// late worker finds the server free.
#include "run/result.hpp"

namespace stepsim::study {

// Whether this run is used: synchronous parameter server, schedule single, /variability changes any
// time, more than one worker, something to send, no measured curve, exact costs, no method but
// events.
[[nodiscard]] bool needs_server_rounds(const Scenario& scenario);
[[nodiscard]] Result run_server_rounds(const Scenario& scenario);

} // namespace stepsim::study
