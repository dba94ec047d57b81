#include "program/builders/step_parts.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

namespace stepsim::program {

std::uint32_t lowest_layer(const BucketTimes& bucket) {
  return *std::ranges::min_element(bucket.layers);
}

std::vector<std::uint32_t> bucket_of_layers(const std::vector<BucketTimes>& buckets,
                                            std::size_t layers) {
  std::vector<std::uint32_t> result(layers, kAllRanks);
  for (std::uint32_t g = 0; g < buckets.size(); ++g) {
    for (const std::uint32_t layer : buckets[g].layers) {
      result[layer] = g;
    }
  }
  return result;
}

std::vector<std::uint32_t> forward_order(const std::vector<BucketTimes>& buckets) {
  std::vector<std::uint32_t> order(buckets.size());
  std::iota(order.begin(), order.end(), 0U);
  std::ranges::sort(order, {}, [&](std::uint32_t g) { return lowest_layer(buckets[g]); });
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

} // namespace stepsim::program
