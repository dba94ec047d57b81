#pragma once
// The input and shared parts of the program builders: the layers of a step, in forward order and
// numbered from 0, the buckets of their gradients, in launch order, and all durations.

#include "base/words.hpp"
#include "programs/program_draft.hpp"

namespace stepsim::programs {

struct LayerTimes {
  Seconds forward;
  Seconds backward;
  double bytes = 0;            // the layer's share of the update is proportional to its bytes
  bool forward_before = false; // its forward is in that of a layer before it, for add_forward()
};

struct ExchangeTime {
  Seconds startup;
  Seconds data;
};

struct BucketTimes {
  std::vector<std::uint32_t> layers; // layers of the gradients; a layer may be in several buckets
  ExchangeTime reduce{};             // the all-reduce, or its first half: reduce-scatter or reduce
  ExchangeTime gather{};             // the second half, if any: all-gather or broadcast
  // The layer whose backward completes the bucket; if empty, the lowest layer of the bucket.
  std::optional<std::uint32_t> ready_after{};
  // Time on the compute stream, after that backward, to select and encode the data to send.
  Seconds select{};
  Seconds encode{};
  Seconds delay{};        // wait between encoding and the exchange: the cycle of Horovod
  Seconds side{};         // time to select on a stream of its own, after the delay
  Seconds decode{};       // decoding the gathered data, before the forward that needs the data
  std::int64_t bytes = 0; // size of the message for the credit of a priority stream
};

// When a layer of the next forward may start: after the exchanges of its own buckets (per_layer),
// or after all exchanges (barrier).
enum class NextForward { per_layer, barrier };
inline constexpr auto kNextForwards = base::words<NextForward>();

[[nodiscard]] std::uint32_t lowest_layer(const BucketTimes& bucket);
// [layer]: the indices of its buckets; none for a layer without gradients.
[[nodiscard]] std::vector<std::vector<std::uint32_t>>
buckets_of_layers(const std::vector<BucketTimes>& buckets, std::size_t layers);
// [layer]: its place among merged layers, runs of layers that are computed as one because no
// exchange begins or is awaited inside. One begins with a layer whose backward an exchange waits
// for, and with one that waits for a bucket for which the first layer of the run before does not.
[[nodiscard]] std::vector<std::uint32_t> merged_layers(const std::vector<BucketTimes>& buckets,
                                                       std::size_t layers);
// Replaces layers by their merged ones, ascending and each of them once.
void merge_layers(const std::vector<std::uint32_t>& merged, std::vector<std::uint32_t>& layers);
// The indices of the buckets, sorted by their lowest layer.
[[nodiscard]] std::vector<std::uint32_t> forward_order(const std::vector<BucketTimes>& buckets);
// The share of every layer in an update of `update` seconds; equal shares if no layer has bytes.
[[nodiscard]] std::vector<Seconds> update_shares(const std::vector<LayerTimes>& layers,
                                                 Seconds update);

// Names of operations, which are numbered from 1 although indices begin at 0: ("F", 2) is "F3" and
// ("F", 1, 2) is "F2_3".
[[nodiscard]] std::string operation_name(std::string_view kind, std::size_t index);
[[nodiscard]] std::string operation_name(std::string_view kind, std::size_t outer,
                                         std::size_t index);

// These add an operation with its labels and return its number.
std::uint32_t add_layer(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                        Seconds seconds, std::size_t layer, std::size_t micro_batch = 0);
std::uint32_t add_exchange(ProgramDraft& draft, std::string id, std::uint32_t stream, Kind kind,
                           const ExchangeTime& time, std::size_t unit);

// The name of the stream on which gradients are selected while the compute stream goes on.
inline constexpr std::string_view kCopyStream = "copy";
// The streams of a synchronous step. hosts[g] has the delay before the exchange of bucket g: the
// delays of two buckets may overlap, as cycles of Horovod do. `copy` and an entry of `hosts` are
// kAllRanks where they have nothing to do.
struct StepStreams {
  std::uint32_t compute{};
  std::uint32_t reduce{};
  std::uint32_t copy = kAllRanks;
  std::vector<std::uint32_t> hosts{};
};
[[nodiscard]] StepStreams step_streams(ProgramDraft& draft, const std::vector<BucketTimes>& buckets,
                                       Stream reduce = {.name = "reduce"});

// Adds the forward of all layers that have one of their own and returns the number of each
// operation.
std::vector<std::uint32_t> add_forward(ProgramDraft& draft, std::uint32_t compute,
                                       const std::vector<LayerTimes>& layers,
                                       std::size_t micro_batch = 0);

// Adds the forward of all layers, each after an update of shares[l] seconds, and returns the
// numbers of the updates.
[[nodiscard]] std::vector<std::uint32_t> add_updated_forward(ProgramDraft& draft,
                                                             std::uint32_t compute,
                                                             const std::vector<LayerTimes>& layers,
                                                             const std::vector<Seconds>& shares);

// The operations of a backward pass.
struct Backward {
  std::vector<std::uint32_t> layers; // [layer]: its backward
  // [bucket]: the operation that its exchange waits for; 0 if the buckets are not exchanged.
  std::vector<std::uint32_t> buckets;
};
// Adds the backward of all layers, from the last to the first. If `exchanged`, the buckets are
// exchanged after this micro-batch, so that their select, encode and delay are added, too.
[[nodiscard]] Backward add_backward(ProgramDraft& draft, const StepStreams& streams,
                                    const std::vector<LayerTimes>& layers,
                                    const std::vector<BucketTimes>& buckets,
                                    std::size_t micro_batch = 0, bool exchanged = true);

// Adds the exchange of every bucket of a backward pass, named NAME1, NAME2, .. Returns [bucket].
[[nodiscard]] std::vector<std::uint32_t> add_exchanges(ProgramDraft& draft, const std::string& name,
                                                       std::uint32_t stream, Kind kind,
                                                       const std::vector<BucketTimes>& buckets,
                                                       const Backward& backward,
                                                       std::int32_t micro_batch = -1);
// Adds the second half of the exchange of every bucket, in the order of forward. Returns [bucket].
[[nodiscard]] std::vector<std::uint32_t> add_gathers(ProgramDraft& draft, std::string_view name,
                                                     std::uint32_t stream, Kind kind,
                                                     const std::vector<BucketTimes>& buckets);

// Adds to the program of synchronous training the time to read the batches of an iteration
// (TRN 4.1, MER 7): on a stream of its own between one update and the next, while everything else
// goes on, or on the compute stream, where nothing hides it: after each forward pass or, if forward
// gathers parameters, before it and its gathers.
//
//     period = max(reading, period without reading and update) + update     pipelined
//     period = reading + period without reading                             not pipelined

// `input` is the time to read the batch of one micro-batch. With one the program must have an
// update and, if not `pipelined`, labels of micro-batches at its forward and backward. `wait` is
// the time per step that nothing else explains: once before the first backward or local step of an
// iteration or, if forward gathers parameters, before its gathers, in an operation named kWait.
struct Pauses {
  Seconds input{};
  bool pipelined = true;
  Seconds wait{};
  bool gathers = false; // forward passes begin with all-gathers of parameters
};
[[nodiscard]] Program with_pauses(const Program& program, const Pauses& pauses);

} // namespace stepsim::programs
