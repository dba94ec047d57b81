#include "program/builders/pipe_sgd_program.hpp"

#include <cstddef>

#include "program/program_draft.hpp"

namespace stepsim::program {

Program pipe_sgd_program(const std::vector<LayerTimes>& layers,
                         const std::vector<BucketTimes>& buckets, Seconds update,
                         std::int32_t width) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  const std::uint32_t start = draft.compute("U", streams.compute, Kind::update, update);
  add_forward(draft, streams.compute, layers);
  const Backward backward = add_backward(draft, streams, layers, buckets);
  std::uint32_t marker = backward.layers[0];
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    marker = add_exchange(draft, operation_name("X", g), streams.reduce, Kind::allreduce,
                          buckets[g].reduce, g);
    draft.wait(marker, backward.buckets[g], 0);
    draft.wait(start, marker, width);
    draft.applies(start, marker, width);
  }
  return draft.finish(marker);
}

} // namespace stepsim::program
