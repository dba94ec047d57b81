#include "program/builders/sync_sgd_program.hpp"

#include <cstddef>

#include "program/program_draft.hpp"

namespace stepsim::program {

Program sync_sgd_program(const std::vector<LayerTimes>& layers,
                         const std::vector<BucketTimes>& buckets, const SyncSgdOptions& options) {
  ProgramDraft draft;
  const std::uint32_t compute = draft.stream("compute");
  const std::uint32_t reduce = draft.stream("reduce");
  const std::vector<std::uint32_t> bucket_of = bucket_of_layers(buckets, layers.size());
  const std::vector<Seconds> shares = update_shares(layers, options.update);
  const std::size_t last_batch = options.micro_batches - 1;
  const bool barrier = options.next_forward == NextForward::barrier;
  std::vector<std::uint32_t> updates;
  if (barrier) {
    updates.push_back(draft.compute("U", compute, Kind::update, options.update));
  }
  std::vector<std::uint32_t> backward(layers.size());
  std::vector<std::uint32_t> exchanges(buckets.size()); // of the last micro-batch
  for (std::size_t j = 0; j < options.micro_batches; ++j) {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (j == 0 && !barrier) {
        updates.push_back(
            add_layer(draft, operation_name("U", l), compute, Kind::update, shares[l], l));
      }
      add_layer(draft, operation_name("F", j, l), compute, Kind::forward, layers[l].forward, l, j);
    }
    for (std::size_t l = layers.size(); l-- > 0;) {
      backward[l] = add_layer(draft, operation_name("B", j, l), compute, Kind::backward,
                              layers[l].backward, l, j);
    }
    for (std::size_t g = 0; g < buckets.size(); ++g) {
      if (j == last_batch || options.exchange_each) {
        exchanges[g] = add_exchange(draft, operation_name("X", j, g), reduce, Kind::allreduce,
                                    buckets[g].reduce, g);
        draft.wait(exchanges[g], backward[lowest_layer(buckets[g])], 0);
      }
    }
  }
  if (barrier) {
    for (const std::uint32_t exchange : exchanges) {
      draft.wait(updates[0], exchange, 1);
      draft.applies(updates[0], exchange, 1);
    }
  } else {
    for (std::size_t l = 0; l < layers.size(); ++l) {
      if (bucket_of[l] != kAllRanks) {
        draft.wait(updates[l], exchanges[bucket_of[l]], 1);
        draft.applies(updates[l], exchanges[bucket_of[l]], 1);
      }
    }
  }
  draft.start_tail();
  const std::uint32_t last = draft.compute("U_last", compute, Kind::update, options.update);
  for (const std::uint32_t exchange : exchanges) {
    draft.wait(last, exchange, 1);
  }
  return draft.finish(backward[0]);
}

} // namespace stepsim::program
