#pragma once
// Synchronous parameter servers whose workers differ: every push is timed by itself, because a
// late worker finds the server free.
#include "run/result.hpp"

namespace stepsim::study {

// Whether the scenario is such a run: a synchronous parameter server, one message per iteration,
// and workers that differ.
[[nodiscard]] bool needs_server_rounds(const Scenario& scenario);
[[nodiscard]] Result run_server_rounds(const Scenario& scenario);

} // namespace stepsim::study
