#pragma once
// stepsim tune SCENARIO --knob NAME: finds the best value of one knob of training. The output also
// has the iteration times of all values that were tried, of the value in the scenario, of the
// default and of the best possible merge. With --emit it writes settings for NCCL or PyTorch
// instead (emit_tuner.hpp, emit_ddp.hpp, plan_units_command.hpp).
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// Returns kOk, or kTargetNotMet if no density is as fast as dense training. Throws UsageError for
// flags and for a knob that the scenario cannot have, InputError for the scenario, and
// SimulationError if every value fails.
[[nodiscard]] int tune(const Invocation& invocation);

} // namespace stepsim::cli
