#pragma once
// stepsim tune SCENARIO --knob NAME: the best value of one knob of training, the curve around it,
// and what the present value, the default and the best possible merge lose against it. With --emit
// nccl-tuner a table for NCCL instead (emit_tuner.hpp).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kTargetNotMet if no density is as fast as dense training. Throws UsageError for a
// knob that the scenario cannot have, InputError for the scenario, SimulationError if every value
// fails.
[[nodiscard]] int tune(const Invocation& invocation);

} // namespace stepsim::cli
