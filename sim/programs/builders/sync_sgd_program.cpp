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
  std::vector<std::uint32_t> exchanges; // of the last micro-batch
  for (std::size_t j = 0; j < options.micro_batches; ++j) {
    if (j == 0 && !barrier) {
      updates = add_updated_forward(draft, streams.compute, layers, shares);
    } else {
      add_forward(draft, streams.compute, layers, j);
    }
    const bool exchanged = j + 1 == options.micro_batches || options.exchange_each;
    backward = add_backward(draft, streams, layers, buckets, j, exchanged);
    if (exchanged) {
      exchanges = add_exchanges(draft, operation_name("X", j) + "_", streams.reduce,
                                Kind::allreduce, buckets, backward, static_cast<std::int32_t>(j));
    }
    for (std::size_t g = 0; exchanged && g < buckets.size(); ++g) {
      Operation& exchange = draft.settings().operations[exchanges[g]];
      exchange.stream = lanes[g];
      exchange.bytes = buckets[g].bytes;
      exchange.priority = static_cast<std::int64_t>(g);
    }
  }
  if (barrier) {
    draft.apply(updates[0], exchanges, 1);
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
  draft.wait(last, exchanges, 1);
  return draft.finish(backward.layers[0]);
}

Program od_sgd_program(const std::vector<LayerTimes>& layers,
                       const std::vector<BucketTimes>& buckets, Seconds update, Seconds local) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  add_forward(draft, streams.compute, layers);
  const Backward backward = add_backward(draft, streams, layers, buckets);
  const std::vector<std::uint32_t> exchanges =
      add_exchanges(draft, "X", streams.reduce, Kind::allreduce, buckets, backward);
  const std::uint32_t weights = draft.compute("U", streams.compute, Kind::update, update);
  draft.apply(weights, exchanges, 1);
  return draft.finish(draft.compute("V", streams.compute, Kind::update, local));
}

Program pipe_sgd_program(const std::vector<LayerTimes>& layers,
                         const std::vector<BucketTimes>& buckets, const PipeSgdOptions& options) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  const std::uint32_t start = draft.compute("U", streams.compute, Kind::update, options.update);
  add_forward(draft, streams.compute, layers);
  const Backward backward = add_backward(draft, streams, layers, buckets);
  const std::vector<std::uint32_t> exchanges =
      add_exchanges(draft, "X", streams.reduce, Kind::allreduce, buckets, backward);
  for (const std::uint32_t exchange : exchanges) {
    draft.apply(start, {&exchange, 1}, options.width);
    if (options.width > 1 && options.synchronous_first > 0) {
      draft.wait(start, exchange, 1, Scope::own, options.synchronous_first);
    }
  }
  return draft.finish(exchanges.empty() ? backward.layers[0] : exchanges.back());
}

} // namespace stepsim::programs
