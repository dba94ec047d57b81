#include "programs/builders/step_programs.hpp"

namespace stepsim::programs {

Program sync_sgd_program(const std::vector<LayerTimes>& layers,
                         const std::vector<BucketTimes>& buckets, const SyncSgdOptions& options) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets, options.reduce);
  const std::vector<std::vector<std::uint32_t>> buckets_of =
      buckets_of_layers(buckets, layers.size());
  const std::vector<Seconds> shares = update_shares(layers, options.update);
  const bool barrier = options.next_forward == NextForward::barrier;
  std::vector<std::uint32_t> updates;
  if (barrier) {
    updates.push_back(draft.compute("U", streams.compute, Kind::update, options.update));
  }
  std::vector<std::uint32_t> lanes(buckets.size(), streams.reduce); // of the exchanges
  for (std::size_t g = 1; options.stream_each && g < buckets.size(); ++g) {
    lanes[g] = draft.stream(operation_name(options.reduce.name, g));
  }
  Backward backward;
  std::vector<std::uint32_t> exchanges(buckets.size()); // of the last micro-batch
  for (std::size_t j = 0; j < options.micro_batches; ++j) {
    if (j == 0 && !barrier) {
      updates = add_updated_forward(draft, streams.compute, layers, shares);
    } else {
      add_forward(draft, streams.compute, layers, j);
    }
    const bool exchanged = j + 1 == options.micro_batches || options.exchange_each;
    backward = add_backward(draft, streams, layers, buckets, j, exchanged);
    for (std::size_t g = 0; exchanged && g < buckets.size(); ++g) {
      exchanges[g] = add_exchange(draft, operation_name("X", j, g), lanes[g], Kind::allreduce,
                                  buckets[g].reduce, g);
      draft.last().bytes = buckets[g].bytes;
      draft.last().priority = static_cast<std::int64_t>(g);
      draft.last().micro_batch = static_cast<std::int32_t>(j);
      draft.wait(exchanges[g], backward.buckets[g], 0);
    }
  }
  if (barrier) {
    for (const std::uint32_t exchange : exchanges) {
      draft.wait(updates[0], exchange, 1);
      draft.applies(updates[0], exchange, 1);
    }
  } else {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for (const std::uint32_t g : buckets_of[l]) {
        draft.wait(updates[l], exchanges[g], 1);
        draft.applies(updates[l], exchanges[g], 1);
      }
    }
  }
  draft.start_tail();
  const std::uint32_t last = draft.compute("U_last", streams.compute, Kind::update, options.update);
  for (const std::uint32_t exchange : exchanges) {
    draft.wait(last, exchange, 1);
  }
  return draft.finish(backward.layers[0]);
}

} // namespace stepsim::programs
