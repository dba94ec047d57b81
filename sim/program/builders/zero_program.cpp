#include "program/builders/zero_program.hpp"

#include <cstddef>

#include "program/program_draft.hpp"

namespace stepsim::program {

Program zero_program(const std::vector<LayerTimes>& layers, const std::vector<BucketTimes>& buckets,
                     const ZeroOptions& options) {
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t reduce = draft.stream("reduce");
  const std::vector<std::uint32_t> bucket_of = bucket_of_layers(buckets, layers.size());
  std::vector<std::uint32_t> first_forward;
  std::vector<std::uint32_t> backward(layers.size());
  std::vector<std::uint32_t> reduces(buckets.size()); // of the last micro-batch
  for (std::size_t j = 0; j < options.micro_batches; ++j) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      const std::uint32_t forward = add_layer(draft, operation_name("F", j, l), compute,
                                              Kind::forward, layers[l].forward, l, j);
      if (j == 0) {
        first_forward.push_back(forward);
      }
    }
    for (std::size_t l = layers.size(); l-- > 0;) {
      backward[l] = add_layer(draft, operation_name("B", j, l), compute, Kind::backward,
                              layers[l].backward, l, j);
    }
    for (std::size_t g = 0; g < buckets.size(); ++g) {
      if (j + 1 == options.micro_batches || options.stage == 2) {
        reduces[g] = add_exchange(draft, operation_name("R", j, g), reduce, Kind::reduce_scatter,
                                  buckets[g].reduce, g);
        draft.wait(reduces[g], backward[lowest_layer(buckets[g])], 0);
      }
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
  for (std::size_t l = 0; l < layers.size() && options.gather == NextForward::per_layer; ++l) {
    if (bucket_of[l] != kAllRanks) {
      draft.wait(first_forward[l], gathers[bucket_of[l]], 1);
    }
  }
  return draft.finish(update);
}

} // namespace stepsim::program
