#include "programs/builders/step_programs.hpp"

namespace stepsim::programs {

namespace {

// The first forward of an iteration, each layer after decoding the buckets that it is the first to
// need.
struct FirstForward {
  std::vector<std::uint32_t> layers;  // operation of every layer
  std::vector<std::uint32_t> decodes; // of every bucket, kAllRanks without one
};

FirstForward add_first_forward(ProgramDraft& draft, std::uint32_t compute,
                               const std::vector<LayerTimes>& layers,
                               const std::vector<BucketTimes>& buckets, NextForward gather) {
  FirstForward added{{}, std::vector<std::uint32_t>(buckets.size(), kAllRanks)};
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (const std::uint32_t g : forward_order(buckets)) {
      const std::size_t first = gather == NextForward::barrier ? 0 : lowest_layer(buckets[g]);
      if (first == l && buckets[g].decode.value > 0) {
        added.decodes[g] =
            draft.compute(operation_name("D", g), compute, Kind::decode, buckets[g].decode);
        draft.last().unit = static_cast<std::int32_t>(g);
      }
    }
    added.layers.push_back(
        add_layer(draft, operation_name("F", 0, l), compute, Kind::forward, layers[l].forward, l));
  }
  return added;
}

} // namespace

Program zero_program(const std::vector<LayerTimes>& layers, const std::vector<BucketTimes>& buckets,
                     const ZeroOptions& options) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  const std::uint32_t compute = streams.compute;
  const std::uint32_t reduce = streams.reduce;
  const FirstForward first = add_first_forward(draft, compute, layers, buckets, options.gather);
  const std::vector<std::uint32_t>& first_forward = first.layers;
  std::vector<std::uint32_t> reduces; // of the last micro-batch
  for (std::size_t j = 0; j < options.micro_batches; ++j) {
    if (j > 0) {
      add_forward(draft, compute, layers, j);
    }
    const bool exchanged = j + 1 == options.micro_batches || options.stage == 2;
    const Backward backward = add_backward(draft, streams, layers, buckets, j, exchanged);
    if (exchanged) {
      reduces = add_exchanges(draft, operation_name("R", j) + "_", reduce,
                              options.broadcasts.empty() ? Kind::reduce_scatter : Kind::allreduce,
                              buckets, backward, static_cast<std::int32_t>(j));
    }
  }
  const std::uint32_t update =
      draft.compute("U", compute, Kind::update, options.update / options.shards);
  draft.apply(update, reduces, 0);
  for (std::size_t k = 0; k < options.broadcasts.size(); ++k) {
    const std::uint32_t broadcast =
        add_exchange(draft, operation_name("C", k), reduce, Kind::broadcast, options.broadcasts[k],
                     buckets.size() + k);
    draft.wait(broadcast, update, 0);
    draft.wait(first_forward[0], broadcast, 1);
  }
  if (!options.broadcasts.empty()) {
    return draft.finish(update);
  }
  const std::uint32_t ready =
      options.encode.value > 0 ? draft.compute("E", compute, Kind::encode, options.encode) : update;
  const std::vector<std::uint32_t> gathers =
      add_gathers(draft, "G", reduce, Kind::allgather, buckets);
  for (const std::uint32_t g : forward_order(buckets)) {
    draft.wait(gathers[g], ready, 0);
    if (first.decodes[g] != kAllRanks) {
      draft.wait(first.decodes[g], gathers[g], 1);
    }
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

} // namespace stepsim::programs
