#pragma once
// The last stage of the Kineto importer: makes one trace of the measured ranks.
#include <span>
#include <string>
#include <vector>

#include "import/kineto/kineto_cost.hpp"
#include "import/kineto/kineto_options.hpp"
#include "import/kineto/kineto_rank.hpp"
#include "import/kineto/kineto_sizes.hpp"
#include "import/kineto/kineto_variability.hpp"
#include "layers/trace.hpp"

namespace stepsim::io {

// The result of an import: the trace, what was measured besides, and where the gradient sizes come
// from or which option would give them.
struct KinetoImport {
  layers::Trace trace;
  MeasuredVariability variability;
  MeasuredCosts costs; // empty unless KinetoOptions::with_costs
  // [index in `ranks`] ns to add to the clock of a rank to get that of the first one, as in
  // Waiting::offset; empty if waiting was not separated.
  std::vector<double> clock_offsets;
  std::string sizes;  // "AccumulateGrad shapes (62 of 62 tensors), bfloat16"; empty = unknown
  std::string remedy; // "404 gradients, no sizes: give --parameters N .."; empty = sizes are known
};

// Makes a trace, without `name` and `source`, of one or more ranks with equal layers. Compute times
// are medians over the ranks; backward times that were not recorded follow from `backward_ratio`;
// with TimeBasis::wall or a measured step, compute times are multiplied by wall_factor(). Of
// `sources` the members model, tables, parameters and dtype are replaced by those of `options`, and
// record_shapes by that of the first rank. Throws InputError
//   - if the files are of different jobs, two of them are of one rank, or their layers differ;
//   - if there are neither backward times nor `backward_ratio`;
//   - if a source of sizes does not fit;
// and as wall_factor() does.
[[nodiscard]] KinetoImport trace_of_ranks(std::span<const KinetoRank> ranks,
                                          const KinetoOptions& options, SizeSources sources = {});

} // namespace stepsim::io
