#pragma once
// Output lines about training in rounds of several steps (local_sgd, diloco).
#include <string>

#include "run/result.hpp"

namespace stepsim::cli {

// "diloco, rounds of 100 steps, 8 fragments, 1 step overlapped"; empty for other algorithms.
[[nodiscard]] std::string rounds_text(const study::Result& result);
// The data of the outer exchanges of a round: "ring allreduce of outer gradients, 8 messages, 4
// GB".
[[nodiscard]] std::string outer_exchange_text(const study::Result& result);
// The duration of a round, the time of its outer exchanges, and the utilization. Needs a run in
// rounds.
[[nodiscard]] std::string round_times_text(const study::Result& result);

} // namespace stepsim::cli
