#include "program/builders/zero_program.hpp"

#include <cstddef>

#include "program/program_draft.hpp"

namespace stepsim::program {

Program zero_program(const std::vector<LayerTimes>& layers, const std::vector<BucketTimes>& buckets,
                     const ZeroOptions& options) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  const std::uint32_t compute = streams.compute;
  const std::uint32_t reduce = streams.reduce;
  std::vector<std::uint32_t> first_forward;
  std::vector<std::uint32_t> reduces(buckets.size()); // of the last micro-batch
  for (std::size_t j = 0; j < options.micro_batches; ++j) {
    const std::vector<std::uint32_t> forward = add_forward(draft, compute, layers, j);
    if (j == 0) {
      first_forward = forward;
    }
    const bool exchanged = j + 1 == options.micro_batches || options.stage == 2;
    const Backward backward = add_backward(draft, streams, layers, buckets, j, exchanged);
    for (std::size_t g = 0; exchanged && g < buckets.size(); ++g) {
      reduces[g] = add_exchange(draft, operation_name("R", j, g), reduce, Kind::reduce_scatter,
                                buckets[g].reduce, g);
      draft.last().micro_batch = static_cast<std::int32_t>(j);
      draft.wait(reduces[g], backward.buckets[g], 0);
    }
  }
  const std::uint32_t update =
      draft.compute("U", compute, Kind::update, options.update / options.shards);
  for (const std::uint32_t each : reduces) {
    draft.wait(update, each, 0);
    draft.applies(update, each, 0);
  }
  std::vector<std::uint32_t> gathers(buckets.size());
  for (const std::uint32_t g : forward_order(buckets)) {
    gathers[g] =
        add_exchange(draft, operation_name("G", g), reduce, Kind::allgather, buckets[g].gather, g);
    draft.wait(gathers[g], update, 0);
    if (options.gather == NextForward::barrier) {
      draft.wait(first_forward[0], gathers[g], 1);
    }
  }
  if (options.gather == NextForward::per_layer) {
    const std::vector<std::vector<std::uint32_t>> buckets_of =
        buckets_of_layers(buckets, layers.size());
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for (const std::uint32_t g : buckets_of[l]) {
        draft.wait(first_forward[l], gathers[g], 1);
      }
    }
  }
  return draft.finish(update);
}

} // namespace stepsim::program
