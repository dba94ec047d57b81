#pragma once
// The last stage of the Kineto importer: the measured ranks become one trace.
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_options.hpp"
#include "import/kineto/kineto_rank.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

// Ranks with equal layers to a trace, without `name` and `source`. Compute times are medians over
// the ranks, backward is assumed by `backward_ratio` where it was not recorded, and all compute
// times are scaled to the step that `options` ask for. Throws InputError where layers differ, where
// there is neither backward nor `backward_ratio`, where the model of `options` does not fit, and as
// wall_factor does. `remarks` as in import_kineto.hpp.
[[nodiscard]] train::Trace trace_of_ranks(std::span<const KinetoRank> ranks,
                                          const KinetoOptions& options,
                                          std::vector<std::string>* remarks = nullptr);

} // namespace stepsim::io
