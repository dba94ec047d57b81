#pragma once
// What builders of programs take: the layers of a step, in forward order, the buckets of its
// gradients, in launch order, and how long everything lasts. Layers count from 0.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "program/program_draft.hpp"
#include "program/training_program.hpp"

namespace stepsim::program {

struct LayerTimes {
  Seconds forward;
  Seconds backward;
  double bytes = 0; // its share of the update is in proportion
};

struct ExchangeTime {
  Seconds startup;
  Seconds data;
};

struct BucketTimes {
  std::vector<std::uint32_t> layers;
  ExchangeTime reduce; // all-reduce, or the first half: reduce-scatter, reduce
  ExchangeTime gather; // the second half: all-gather, broadcast
};

// When the layers of the next forward may start: each with its own bucket, or all with the last
// one.
enum class NextForward { per_layer, barrier };

// The smallest layer of a bucket; its backward is the last one that the bucket waits for.
[[nodiscard]] std::uint32_t lowest_layer(const BucketTimes& bucket);
// The bucket of every layer, kAllRanks for layers without gradients.
[[nodiscard]] std::vector<std::uint32_t> bucket_of_layers(const std::vector<BucketTimes>& buckets,
                                                          std::size_t layers);
// Indices of the buckets by their lowest layer.
[[nodiscard]] std::vector<std::uint32_t> forward_order(const std::vector<BucketTimes>& buckets);
// The share of every layer in an update of `update` seconds; equal shares if no layer has bytes.
[[nodiscard]] std::vector<Seconds> update_shares(const std::vector<LayerTimes>& layers,
                                                 Seconds update);

// "F3", "F2_3": names of operations, with numbers from 1.
[[nodiscard]] std::string operation_name(std::string_view kind, std::size_t index);
[[nodiscard]] std::string operation_name(std::string_view kind, std::size_t outer,
                                         std::size_t index);

// Adds the operation with its labels; the number of the operation.
std::uint32_t add_layer(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                        Seconds seconds, std::size_t layer, std::size_t micro_batch = 0);
std::uint32_t add_exchange(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                           const ExchangeTime& time, std::size_t unit);

} // namespace stepsim::program
