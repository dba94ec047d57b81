#pragma once
// stepsim models list | show NAME | gpus: the shipped layer tables of networks (MOD), with totals
// that can be compared with publications, and the GPUs of train/workload/gpu_table.hpp.
#include "cli/shell/app.hpp"

namespace stepsim::cli {

// NAME is a shipped table, a file of kind model or the config.json of a Hugging Face model. Returns
// kOk. Throws UsageError for an unknown name (with the nearest known one) and for a sequence length
// that the network does not allow, and InputError for a file that is not a layer table.
[[nodiscard]] int models(const Invocation& invocation);

} // namespace stepsim::cli
