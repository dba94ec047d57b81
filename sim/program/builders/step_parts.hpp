#pragma once
// What builders of programs take: the layers of a step, in forward order, the buckets of its
// gradients, in launch order, and how long everything lasts. Layers count from 0.
#include <cstdint>
#include <optional>
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
  std::vector<std::uint32_t>
      layers;          // whose gradients it carries; a layer may be in several buckets
  ExchangeTime reduce; // all-reduce, or the first half: reduce-scatter, reduce
  ExchangeTime gather; // the second half: all-gather, broadcast
  // The layer whose backward completes the bucket; empty: its lowest layer.
  std::optional<std::uint32_t> ready_after{};
  // On the compute stream after that backward: selecting and encoding what is sent.
  Seconds select{};
  Seconds encode{};
  Seconds decode{};       // of what `gather` brought, before the forward that needs it
  Seconds delay{};        // from then to the exchange, on no stream: the cycle of Horovod
  std::int64_t bytes = 0; // counted by the credit of a priority stream
};

// When the layers of the next forward may start: each with its own bucket, or all with the last
// one.
enum class NextForward { per_layer, barrier };

[[nodiscard]] std::uint32_t lowest_layer(const BucketTimes& bucket);
// The buckets of every layer, none for layers without gradients.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
buckets_of_layers(const std::vector<BucketTimes>& buckets, std::size_t layers);
// Indices of the buckets by their lowest layer.
[[nodiscard]] std::vector<std::uint32_t> forward_order(const std::vector<BucketTimes>& buckets);
// The share of every layer in an update of `update` seconds; equal shares if no layer has bytes.
[[nodiscard]] std::vector<Seconds> update_shares(const std::vector<LayerTimes>& layers,
                                                 Seconds update);

// "F3", "F2_3": names of operations. Indices count from 0, the numbers in names from 1: ("F", 2),
// ("F", 1, 2).
[[nodiscard]] std::string operation_name(std::string_view kind, std::size_t index);
[[nodiscard]] std::string operation_name(std::string_view kind, std::size_t outer,
                                         std::size_t index);

// Adds the operation with its labels; the number of the operation.
std::uint32_t add_layer(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                        Seconds seconds, std::size_t layer, std::size_t micro_batch = 0);
std::uint32_t add_exchange(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                           const ExchangeTime& time, std::size_t unit);

// The streams of a synchronous step. `host` carries delays between computing and exchanges;
// kAllRanks where there are none.
struct StepStreams {
  std::uint32_t compute{};
  std::uint32_t reduce{};
  std::uint32_t host = kAllRanks;
};
[[nodiscard]] StepStreams step_streams(ProgramDraft& draft, const std::vector<BucketTimes>& buckets,
                                       Stream reduce = {.name = "reduce"});

// The forward of all layers; the numbers of the operations.
std::vector<std::uint32_t> add_forward(ProgramDraft& draft, std::uint32_t compute,
                                       const std::vector<LayerTimes>& layers,
                                       std::size_t micro_batch = 0);

// The same, each layer after its update of shares[l] seconds; the numbers of the updates.
[[nodiscard]] std::vector<std::uint32_t> add_updated_forward(ProgramDraft& draft,
                                                             std::uint32_t compute,
                                                             const std::vector<LayerTimes>& layers,
                                                             const std::vector<Seconds>& shares);

// The backward of all layers, from the last to the first.
struct Backward {
  std::vector<std::uint32_t> layers;  // operation of every layer
  std::vector<std::uint32_t> buckets; // what the exchange of every bucket waits for
};
// `exchanged`: the buckets are exchanged after this micro-batch, hence selected and encoded.
[[nodiscard]] Backward add_backward(ProgramDraft& draft, const StepStreams& streams,
                                    const std::vector<LayerTimes>& layers,
                                    const std::vector<BucketTimes>& buckets,
                                    std::size_t micro_batch = 0, bool exchanged = true);

} // namespace stepsim::program
