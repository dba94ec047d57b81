#pragma once
// What runs on a simulated network.
#include "scenario/parse_context.hpp"
#include "scenario/scenario.hpp"

namespace stepsim::study {

// Whether a job whose messages are simulated one by one follows a training program: anything but
// servers, and all-reduces that hold the channel for nothing but their messages.
[[nodiscard]] bool sends_by_program(const Scenario& scenario);

// Reports what flows and packets do not model, at the key that asks for it. Training that is
// defined by messages of its own (parameter servers) or by times of exchanges is refused where
// every message is simulated.
void check_network_use(const io::Json& tree, const ParseContext& context, const Scenario& scenario);

} // namespace stepsim::study
