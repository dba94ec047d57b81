#include "program/builders/dear_program.hpp"

#include <cstddef>
#include <cstdint>

#include "program/program_draft.hpp"

namespace stepsim::program {
namespace {

// Gathers of prefetch `one`, at the head of the iteration whose forward they serve. The gather of a
// bucket starts when the forward reaches the bucket before it.
std::vector<std::uint32_t> gathers_ahead(ProgramDraft& draft, std::uint32_t reduce,
                                         const std::vector<BucketTimes>& buckets) {
  std::vector<std::uint32_t> gathers(buckets.size());
  for (const std::uint32_t g : forward_order(buckets)) {
    gathers[g] =
        add_exchange(draft, operation_name("G", g), reduce, Kind::allgather, buckets[g].gather, g);
  }
  return gathers;
}

void wait_ahead(ProgramDraft& draft, const std::vector<BucketTimes>& buckets,
                const std::vector<std::uint32_t>& gathers,
                const std::vector<std::uint32_t>& reduces, std::uint32_t last_backward,
                const std::vector<std::uint32_t>& forward) {
  const std::vector<std::uint32_t> order = forward_order(buckets);
  for (std::size_t k = 0; k < order.size(); ++k) {
    const std::uint32_t gather = gathers[order[k]];
    draft.wait(gather, reduces[order[k]], 1);
    draft.wait(gather, last_backward, 1);
    const std::uint32_t reached = k > 0 ? lowest_layer(buckets[order[k - 1]]) : 0;
    if (reached > 0) {
      draft.wait(gather, forward[reached - 1], 0);
    }
  }
}

} // namespace

Program dear_program(const std::vector<LayerTimes>& layers, const std::vector<BucketTimes>& buckets,
                     const DearOptions& options) {
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t reduce = draft.stream("reduce");
  const std::vector<std::uint32_t> bucket_of = bucket_of_layers(buckets, layers.size());
  const std::vector<Seconds> shares = update_shares(layers, options.update);
  const bool ahead = options.prefetch == GatherPrefetch::one;
  std::vector<std::uint32_t> gathers(buckets.size());
  if (ahead) {
    gathers = gathers_ahead(draft, reduce, buckets);
  }
  std::vector<std::uint32_t> updates;
  std::vector<std::uint32_t> forward;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    updates.push_back(
        add_layer(draft, operation_name("U", l), compute, Kind::update, shares[l], l));
    forward.push_back(
        add_layer(draft, operation_name("F", l), compute, Kind::forward, layers[l].forward, l));
  }
  std::vector<std::uint32_t> backward(layers.size());
  for (std::size_t l = layers.size(); l-- > 0;) {
    backward[l] =
        add_layer(draft, operation_name("B", l), compute, Kind::backward, layers[l].backward, l);
  }
  std::vector<std::uint32_t> reduces;
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    reduces.push_back(add_exchange(draft, operation_name("R", g), reduce, Kind::reduce_scatter,
                                   buckets[g].reduce, g));
    draft.wait(reduces[g], backward[lowest_layer(buckets[g])], 0);
  }
  if (ahead) {
    wait_ahead(draft, buckets, gathers, reduces, backward[0], forward);
  } else {
    bool first = true;
    for (const std::uint32_t g : forward_order(buckets)) {
      gathers[g] = add_exchange(draft, operation_name("G", g), reduce, Kind::allgather,
                                buckets[g].gather, g);
      if (first) {
        draft.wait(gathers[g], backward[0], 0);
      }
      first = false;
    }
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (bucket_of[l] != kAllRanks) {
      draft.wait(updates[l], gathers[bucket_of[l]], ahead ? 0 : 1);
      draft.applies(updates[l], reduces[bucket_of[l]], 1);
    }
  }
  draft.start_tail();
  std::vector<std::uint32_t> last = gathers;
  if (ahead) {
    last.clear();
    for (const std::uint32_t g : forward_order(buckets)) {
      last.push_back(add_exchange(draft, operation_name("G_last", g), reduce, Kind::allgather,
                                  buckets[g].gather, g));
      draft.wait(last.back(), backward[0], 1);
    }
  }
  const std::uint32_t update = draft.compute("U_last", compute, Kind::update, options.update);
  for (const std::uint32_t gather : last) {
    draft.wait(update, gather, ahead ? 0 : 1);
  }
  return draft.finish(backward[0]);
}

Program reduce_broadcast_program(const std::vector<LayerTimes>& layers,
                                 const std::vector<BucketTimes>& buckets, Seconds update) {
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t reduce = draft.stream("reduce");
  const std::vector<std::uint32_t> bucket_of = bucket_of_layers(buckets, layers.size());
  std::vector<std::uint32_t> forward;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    forward.push_back(
        add_layer(draft, operation_name("F", l), compute, Kind::forward, layers[l].forward, l));
  }
  std::vector<std::uint32_t> backward(layers.size());
  for (std::size_t l = layers.size(); l-- > 0;) {
    backward[l] =
        add_layer(draft, operation_name("B", l), compute, Kind::backward, layers[l].backward, l);
  }
  std::vector<std::uint32_t> reduces;
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    reduces.push_back(
        add_exchange(draft, operation_name("R", g), reduce, Kind::reduce, buckets[g].reduce, g));
    draft.wait(reduces[g], backward[lowest_layer(buckets[g])], 0);
  }
  const std::uint32_t root = draft.compute("U", compute, Kind::update, update);
  for (const std::uint32_t sum : reduces) {
    draft.wait(root, sum, 0);
    draft.applies(root, sum, 0);
  }
  std::vector<std::uint32_t> broadcasts(buckets.size());
  for (const std::uint32_t g : forward_order(buckets)) {
    broadcasts[g] =
        add_exchange(draft, operation_name("C", g), reduce, Kind::broadcast, buckets[g].gather, g);
    draft.wait(broadcasts[g], root, 0);
  }
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (bucket_of[l] != kAllRanks) {
      draft.wait(forward[l], broadcasts[bucket_of[l]], 1);
    }
  }
  return draft.finish(backward[0]);
}

} // namespace stepsim::program
