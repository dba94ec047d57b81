#include "programs/builders/step_programs.hpp"

namespace stepsim::programs {

Program od_sgd_program(const std::vector<LayerTimes>& layers,
                       const std::vector<BucketTimes>& buckets, Seconds update, Seconds local) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  add_forward(draft, streams.compute, layers);
  const Backward backward = add_backward(draft, streams, layers, buckets);
  std::vector<std::uint32_t> exchanges;
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    exchanges.push_back(add_exchange(draft, operation_name("X", g), streams.reduce, Kind::allreduce,
                                     buckets[g].reduce, g));
    draft.wait(exchanges.back(), backward.buckets[g], 0);
  }
  const std::uint32_t weights = draft.compute("U", streams.compute, Kind::update, update);
  for (const std::uint32_t exchange : exchanges) {
    draft.wait(weights, exchange, 1);
    draft.applies(weights, exchange, 1);
  }
  return draft.finish(draft.compute("V", streams.compute, Kind::update, local));
}

} // namespace stepsim::programs
