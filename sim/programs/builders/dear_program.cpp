#include "programs/builders/step_programs.hpp"

namespace stepsim::programs {
namespace {

// Gathers of prefetch `one` stand at the head of the iteration whose forward they serve. The gather
// of a bucket starts when the forward reaches the bucket before it.
void wait_ahead(ProgramDraft& draft, const std::vector<BucketTimes>& buckets,
                const std::vector<std::uint32_t>& gathers,
                const std::vector<std::uint32_t>& reduces, std::uint32_t last_backward,
                const std::vector<std::uint32_t>& updates) {
  const std::vector<std::uint32_t> order = forward_order(buckets);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint32_t gather = gathers[order[k]];
    draft.wait(gather, reduces[order[k]], 1);
    draft.wait(gather, last_backward, 1);
    const std::uint32_t reached = k > 0 ? lowest_layer(buckets[order[k - 1]]) : 0;
    if (reached > 0) {
      draft.wait(gather, updates[reached - 1] + 1, 0); // the forward of that layer
    }
  }
}

} // namespace

Program dear_program(const std::vector<LayerTimes>& layers, const std::vector<BucketTimes>& buckets,
                     const DearOptions& options) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  const std::uint32_t reduce = streams.reduce;
  const std::vector<std::vector<std::uint32_t>> buckets_of =
      buckets_of_layers(buckets, layers.size());
  const bool ahead = options.prefetch == GatherPrefetch::one;
  std::vector<std::uint32_t> gathers;
  if (ahead) {
    gathers = add_gathers(draft, "G", reduce, Kind::allgather, buckets);
  }
  const bool barrier = options.next_forward == NextForward::barrier;
  std::vector<std::uint32_t> updates;
  if (barrier) {
    updates.push_back(draft.compute("U", streams.compute, Kind::update, options.update));
    add_forward(draft, streams.compute, layers);
  } else {
    updates =
        add_updated_forward(draft, streams.compute, layers, update_shares(layers, options.update));
  }
  const Backward backward = add_backward(draft, streams, layers, buckets);
  const std::vector<std::uint32_t> reduces =
      add_exchanges(draft, "R", reduce, Kind::reduce_scatter, buckets, backward);
  if (ahead) {
    wait_ahead(draft, buckets, gathers, reduces, backward.layers[0], updates);
  } else if (!buckets.empty()) {
    gathers = add_gathers(draft, "G", reduce, Kind::allgather, buckets);
    draft.wait(gathers[forward_order(buckets).front()], backward.layers[0], 0);
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    for (const std::uint32_t g : buckets_of[l]) {
      const std::uint32_t update = updates[barrier ? 0 : l];
      draft.wait(update, gathers[g], ahead ? 0 : 1);
      draft.applies(update, reduces[g], 1);
    }
  }
  draft.start_tail();
  std::vector<std::uint32_t> last = gathers;
  if (ahead) {
    last.clear();
    for (const std::uint32_t g : forward_order(buckets)) {
      last.push_back(add_exchange(draft, operation_name("G_last", g), reduce, Kind::allgather,
                                  buckets[g].gather, g));
      draft.wait(last.back(), backward.layers[0], 1);
    }
  }
  const std::uint32_t update =
      draft.compute("U_last", streams.compute, Kind::update, options.update);
  draft.wait(update, last, ahead ? 0 : 1);
  return draft.finish(backward.layers[0]);
}

Program reduce_broadcast_program(const std::vector<LayerTimes>& layers,
                                 const std::vector<BucketTimes>& buckets, Seconds update,
                                 NextForward next_forward) {
  ProgramDraft draft;
  const StepStreams streams = step_streams(draft, buckets);
  const std::uint32_t reduce = streams.reduce;
  const std::vector<std::uint32_t> forward = add_forward(draft, streams.compute, layers);
  const Backward backward = add_backward(draft, streams, layers, buckets);
  const std::vector<std::uint32_t> reduces =
      add_exchanges(draft, "R", reduce, Kind::reduce, buckets, backward);
  const std::uint32_t root = draft.compute("U", streams.compute, Kind::update, update);
  draft.apply(root, reduces, 0);
  const std::vector<std::uint32_t> broadcasts =
      add_gathers(draft, "C", reduce, Kind::broadcast, buckets);
  for (const std::uint32_t broadcast : broadcasts) {
    draft.wait(broadcast, root, 0);
  }
  if (next_forward == NextForward::barrier) {
    draft.wait(forward[0], broadcasts, 1);
  } else {
    const std::vector<std::vector<std::uint32_t>> buckets_of =
        buckets_of_layers(buckets, layers.size());
    for (std::size_t l = 0; l < layers.size(); ++l) {
      for (const std::uint32_t g : buckets_of[l]) {
        draft.wait(forward[l], broadcasts[g], 1);
      }
    }
  }
  return draft.finish(backward.layers[0]);
}

} // namespace stepsim::programs
