#pragma once
// stepsim tune SCENARIO --knob NAME: finds the best value of one knob of training and the curve
// around it, and the loss of the present value, the default and the best possible merge relative to
// it. With --emit it writes settings for NCCL or PyTorch instead (emit_tuner.hpp, emit_ddp.hpp,
// plan_units_command.hpp).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kTargetNotMet if no density is as fast as dense training. Throws UsageError for
// flags and for a knob that the scenario cannot have, InputError for the scenario, and
// SimulationError if every value fails.
[[nodiscard]] int tune(const Invocation& invocation);

} // namespace stepsim::cli
