#include "programs/builders/step_parts.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace stepsim::programs {

std::uint32_t lowest_layer(const BucketTimes& bucket) {
  return *std::ranges::min_element(bucket.layers);
}

std::vector<std::vector<std::uint32_t>> buckets_of_layers(const std::vector<BucketTimes>& buckets,
                                                          std::size_t layers) {
  std::vector<std::vector<std::uint32_t>> result(layers);
  for (std::uint32_t g = 0; g < buckets.size(); ++g) {
    for (const std::uint32_t layer : buckets[g].layers) {
      result[layer].push_back(g);
    }
  }
  return result;
}

std::vector<std::uint32_t>
merged_layers(const std::vector<bool>& begins,
              const std::vector<std::vector<std::uint32_t>>& buckets_of) {
  std::vector<std::uint32_t> merged(begins.size(), 0);
  std::size_t first = 0; // layer of the present run
  for (std::size_t l = 1; l < begins.size(); ++l) {
    const std::vector<std::uint32_t>& known = buckets_of[first];
    const bool begin = begins[l] || !std::includes(known.begin(), known.end(),
                                                   buckets_of[l].begin(), buckets_of[l].end());
    first = begin ? l : first;
    merged[l] = merged[l - 1] + (begin ? 1 : 0);
  }
  return merged;
}

void merge_layers(const std::vector<std::uint32_t>& merged, std::vector<std::uint32_t>& layers) {
  for (std::uint32_t& layer : layers) {
    layer = merged[layer];
  }
  std::ranges::sort(layers);
  layers.erase(std::ranges::unique(layers).begin(), layers.end());
}

std::vector<std::uint32_t> forward_order(const std::vector<BucketTimes>& buckets) {
  std::vector<std::uint32_t> order(buckets.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::stable_sort(order, {}, [&](std::uint32_t g) { return lowest_layer(buckets[g]); });
  return order;
}

std::vector<Seconds> update_shares(const std::vector<LayerTimes>& layers, Seconds update) {
  double bytes = 0;
  for (const LayerTimes& layer : layers) {
    bytes += layer.bytes;
  }
  std::vector<Seconds> shares;
  for (const LayerTimes& layer : layers) {
    const double part = bytes > 0 ? layer.bytes / bytes : 1.0 / static_cast<double>(layers.size());
    shares.push_back(update * part);
  }
  return shares;
}

std::string operation_name(std::string_view kind, std::size_t index) {
  return std::string(kind) + std::to_string(index + 1);
}

std::string operation_name(std::string_view kind, std::size_t outer, std::size_t index) {
  return operation_name(kind, outer) + "_" + std::to_string(index + 1);
}

std::uint32_t add_layer(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                        Seconds seconds, std::size_t layer, std::size_t micro_batch) {
  const std::uint32_t added = draft.compute(std::move(id), stream, kind, seconds);
  draft.last().first_layer = draft.last().last_layer = static_cast<std::int32_t>(layer);
  draft.last().micro_batch = static_cast<std::int32_t>(micro_batch);
  return added;
}

std::uint32_t add_exchange(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                           const ExchangeTime& time, std::size_t unit) {
  const std::uint32_t added = draft.exchange(std::move(id), stream, kind, time.startup, time.data);
  draft.last().unit = static_cast<std::int32_t>(unit);
  return added;
}

StepStreams step_streams(ProgramDraft& draft, const std::vector<BucketTimes>& buckets,
                         Stream reduce) {
  StepStreams streams;
  streams.compute = draft.stream("compute");
  streams.reduce = draft.stream(std::move(reduce));
  for (std::size_t g = 0; g < buckets.size(); ++g) {
    const bool waits = buckets[g].delay.value > 0;
    streams.hosts.push_back(waits ? draft.stream(operation_name("host", g)) : kAllRanks);
  }
  if (std::ranges::any_of(buckets, [](const BucketTimes& each) { return each.side.value > 0; })) {
    streams.copy = draft.stream(std::string(kCopyStream));
  }
  return streams;
}

std::vector<std::uint32_t> add_forward(ProgramDraft& draft, std::uint32_t compute,
                                       const std::vector<LayerTimes>& layers,
                                       std::size_t micro_batch) {
  std::vector<std::uint32_t> added;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    if (!layers[l].forward_before) {
      added.push_back(add_layer(draft, operation_name("F", micro_batch, l), compute, Kind::forward,
                                layers[l].forward, l, micro_batch));
    }
  }
  return added;
}

std::vector<std::uint32_t> add_updated_forward(ProgramDraft& draft, std::uint32_t compute,
                                               const std::vector<LayerTimes>& layers,
                                               const std::vector<Seconds>& shares) {
  std::vector<std::uint32_t> updates;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    updates.push_back(
        add_layer(draft, operation_name("U", l), compute, Kind::update, shares[l], l));
    add_layer(draft, operation_name("F", 0, l), compute, Kind::forward, layers[l].forward, l);
  }
  return updates;
}

namespace {

// Selecting, encoding and delaying bucket g after the operation `ready`; the last of them.
std::uint32_t prepare(ProgramDraft& draft, const StepStreams& streams, const BucketTimes& bucket,
                      std::size_t g, std::size_t micro_batch, std::uint32_t ready) {
  const auto label = [&] {
    draft.last().unit = static_cast<std::int32_t>(g);
    draft.last().micro_batch = static_cast<std::int32_t>(micro_batch);
  };
  if (bucket.select.value > 0) {
    ready = draft.compute(operation_name("S", micro_batch, g), streams.compute, Kind::select,
                          bucket.select);
    label();
  }
  if (bucket.encode.value > 0) {
    ready = draft.compute(operation_name("E", micro_batch, g), streams.compute, Kind::encode,
                          bucket.encode);
    label();
  }
  // Beside computing: a selection is of what is sent together, after the delay.
  const auto follow = [&](std::string name, std::uint32_t stream, Kind kind, Seconds seconds) {
    const std::uint32_t next = draft.compute(std::move(name), stream, kind, seconds);
    label();
    draft.wait(next, ready, 0);
    ready = next;
  };
  if (bucket.delay.value > 0) {
    follow(operation_name("D", micro_batch, g), streams.hosts[g], Kind::other, bucket.delay);
    draft.last().type = OperationType::delay;
  }
  if (bucket.side.value > 0) {
    follow(operation_name("S", micro_batch, g), streams.copy, Kind::select, bucket.side);
  }
  return ready;
}

} // namespace

Backward add_backward(ProgramDraft& draft, const StepStreams& streams,
                      const std::vector<LayerTimes>& layers,
                      const std::vector<BucketTimes>& buckets, std::size_t micro_batch,
                      bool exchanged) {
  std::vector<std::vector<std::uint32_t>> ready(layers.size()); // buckets by layer
  for (std::uint32_t g = 0; exchanged && g < buckets.size(); ++g) {
    ready[buckets[g].ready_after.value_or(lowest_layer(buckets[g]))].push_back(g);
  }
  Backward added{std::vector<std::uint32_t>(layers.size()),
                 std::vector<std::uint32_t>(buckets.size())};
  for (std::size_t l = layers.size(); l-- > 0;) {
    added.layers[l] = add_layer(draft, operation_name("B", micro_batch, l), streams.compute,
                                Kind::backward, layers[l].backward, l, micro_batch);
    for (const std::uint32_t g : ready[l]) {
      added.buckets[g] = prepare(draft, streams, buckets[g], g, micro_batch, added.layers[l]);
    }
  }
  return added;
}

} // namespace stepsim::programs
