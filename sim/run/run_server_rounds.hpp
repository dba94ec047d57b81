#pragma once
// Synchronous parameter servers whose workers differ: every push is timed by itself, because a
// late worker finds the server free.
#include "run/result.hpp"

namespace stepsim::study {

// parameter_server, sync, in one message, with workers that differ.
[[nodiscard]] bool needs_server_rounds(const Scenario& scenario);
[[nodiscard]] Result run_server_rounds(const Scenario& scenario);

} // namespace stepsim::study
