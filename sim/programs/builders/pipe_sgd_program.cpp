#include "programs/builders/step_programs.hpp"

namespace stepsim::programs {

Program pipe_sgd_program(const std::vector<LayerTimes>& layers,
                         const std::vector<BucketTimes>& buckets, const PipeSgdOptions& options) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  const std::uint32_t start = draft.compute("U", streams.compute, Kind::update, options.update);
  add_forward(draft, streams.compute, layers);
  const Backward backward = add_backward(draft, streams, layers, buckets);
  std::uint32_t marker = backward.layers[0];
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    marker = add_exchange(draft, operation_name("X", g), streams.reduce, Kind::allreduce,
                          buckets[g].reduce, g);
    draft.wait(marker, backward.buckets[g], 0);
    draft.wait(start, marker, options.width);
    draft.applies(start, marker, options.width);
    if (options.width > 1 && options.synchronous_first > 0) {
      draft.wait(start, marker, 1, Scope::own, options.synchronous_first);
    }
  }
  return draft.finish(marker);
}

} // namespace stepsim::programs
