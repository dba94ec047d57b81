#pragma once
// The last stage of the Kineto importer: the measured ranks become one trace.
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_cost.hpp"
#include "import/kineto/kineto_options.hpp"
#include "import/kineto/kineto_rank.hpp"
#include "import/kineto/kineto_sizes.hpp"
#include "import/kineto/kineto_variability.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

// A trace, and what the user is told of its gradient sizes: where they come from, or what to give.
struct KinetoImport {
  train::Trace trace;
  MeasuredVariability variability;
  MeasuredCosts costs;               // where the options ask for them
  std::vector<double> clock_offsets; // by rank, ns; empty where waiting was not separated
  std::string sizes;  // "AccumulateGrad shapes (62 of 62 tensors), bfloat16"; empty = unknown
  std::string remedy; // "404 gradients, no sizes: give --parameters N .."; empty = sizes are known
};

// Ranks with equal layers to a trace, without `name` and `source`. Compute times are medians over
// the ranks, backward is assumed by `backward_ratio` where it was not recorded, and all compute
// times are scaled to the step that `options` ask for. Throws InputError where the files are not of
// one job, where layers differ, where there is neither backward nor `backward_ratio`, where a
// source of sizes does not fit, and as wall_factor does. `sources` without model, tables,
// parameters and dtype, which `options` have.
[[nodiscard]] KinetoImport trace_of_ranks(std::span<const KinetoRank> ranks,
                                          const KinetoOptions& options, SizeSources sources = {});

} // namespace stepsim::io
