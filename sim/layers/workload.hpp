#pragma once
// The work of one worker in one iteration: layers with forward and backward times, and the
// gradients that become ready during backward. A workload is made from a trace, from a model table
// with a device, or from inline layers.
//
// Backward runs from the last layer to the first; all gradients of a layer are ready when its
// backward ends. Gradients are listed in that (backward) order:
//     forward   |--1--|--2--|--3--|
//     backward                    |--3--|--2--|--1--|
//     gradients                         {3}   {2}   {1}

#include "base/shared_list.hpp"
#include "collectives/compress/compression.hpp"
#include "layers/activations.hpp"
#include "layers/trace.hpp"

namespace stepsim::layers {

struct WorkLayer {
  std::string name;
  Seconds forward;
  Seconds backward;
};

// One item of the planner (buckets/problem.hpp): a parameter tensor, a layer, or a weight with its
// neighbours.
struct Gradient {
  std::uint32_t layer{}; // index in `layers`
  Bytes bytes;
  std::int64_t elements{};                        // 0 if unknown
  std::string dtype;                              // empty if unknown
  std::int64_t registration{};                    // position in registration order
  bool measured_order = false;                    // the ready order was seen, not assumed
  std::vector<collectives::MatrixShape> shapes{}; // shapes of its tensors; empty if unknown
  std::int64_t bucket = -1;                       // measured bucket in launch order; -1 if unknown
  // The number of values: `elements` if known, else bytes / bytes per value of the dtype, with 4
  // bytes per value if the dtype is unknown, too.
  [[nodiscard]] std::int64_t values() const;
};

struct Workload {
  std::string name;
  Provenance provenance = Provenance::imported;
  std::optional<std::int64_t> batch_size;
  base::SharedList<WorkLayer> layers{};   // forward order, at least one
  base::SharedList<Gradient> gradients{}; // backward order
  // [layer] activations of a micro-batch; empty if unknown, as those of a trace are.
  // The second list is that of computing under autocast.
  base::SharedList<LayerActivations> activations{}, autocast_activations{};
  // Activations of a step by other kernels, as factors: where it is not said how the loss and the
  // kernels are made, some keep less and others more.
  struct ActivationRange {
    double least = 1, most = 1;
  };
  ActivationRange activation_range{}, autocast_range{};
  Seconds update{}; // of all parameters, including framework copies of the trace
  std::vector<std::string> warnings;
  std::vector<MeasuredBucket> buckets{};        // buckets of the trace, in launch order
  std::optional<std::int64_t> measured_ranks{}; // ranks of the trace
  std::string device{};                         // the GPU of the times; "" if unknown
  // How the trace was recorded. They change no time: the scenario says what is simulated.
  std::optional<std::int64_t> accumulation{}; // micro-batches per update
  bool reduces_each = false;                  // whether each of them is exchanged
  std::vector<MeasuredUnit> units{};
  std::optional<MeasuredSharding> sharding{};
  // The interval of factors on the times in which measured times are expected; set if the times are
  // estimated.
  std::optional<EstimateInterval> interval{};
  double estimate_scale = 1; // factor on estimated times by a measured step
  // The forward of the last layer before add_loss(); empty without a loss.
  std::optional<Seconds> without_loss{};

  // Whether every gradient with bytes is in one of `buckets`.
  [[nodiscard]] bool buckets_cover_gradients() const;
  [[nodiscard]] Seconds forward() const;
  [[nodiscard]] Seconds backward() const;
  // [layer]: when its backward ends, from the start of backward on; backward() for the first.
  [[nodiscard]] std::vector<Seconds> backward_ends() const;
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] std::int64_t values() const;
  // Lets the forward of the last layer take `seconds` longer.
  void add_loss(Seconds seconds);
  // Bytes of all gradients over the number of their values; 4 without gradients.
  [[nodiscard]] double bytes_per_value() const;
};

// The layers of a trace, and its tensors grouped into gradients by `granularity`. All times and
// sizes must be known (asserted); the caller must refuse other traces. Names of tensors are not
// kept.
[[nodiscard]] Workload workload_from_trace(const Trace& trace, Granularity granularity);

// The default for the fraction of its peak that a GPU reaches in training: the median of 115
// measured pairs of GPU and model, all of which are below 1.
inline constexpr double kUsualUtilization = 0.47;

// The ways in which a model table gets its times (MOD 8).
struct DeviceSpeed { // forward_s(l) = batch * 2 macs(l) / (flops * utilization) + overhead
  Flops flops;
  double utilization = kUsualUtilization;
};
struct MeasuredTotals { // layers get shares of these totals in proportion to their MACs
  Seconds forward, backward;
};
struct ProfileOptions {
  std::int64_t batch_size = 1;
  std::optional<DeviceSpeed> device; // exactly one of device, measured and estimate
  std::optional<MeasuredTotals> measured;
  std::optional<GpuEstimate> estimate;
  double backward_factor = 2; // device: backward_s = backward_factor x forward_s
  Seconds layer_overhead;     // device: added to the forward time of layers that compute
  int value_bytes = 4;        // bytes of a gradient element
  Granularity granularity = Granularity::tensor;
  Attention attention = Attention::flash;
  std::optional<Loss> loss;       // empty = not known, taken as eager
  std::optional<Kernels> kernels; // empty = not known, taken as fused
  // Bytes of an activation: those of the formats that a GPU is estimated for, else value_bytes.
  [[nodiscard]] int activation_bytes() const { return estimate ? 2 : value_bytes; }
};
// The workload of a model table. Its times are labelled synthetic (device) or scaled (measured),
// both with the warning of MOD 8, or estimated, which includes the time of the update.
[[nodiscard]] Workload workload_from_model(const ModelTable& table, const ProfileOptions& options);

// Multiplies all backward times by one factor so that their sum is `total` (MER D11). Changes
// nothing if their sum is 0.
void scale_backward(Workload& workload, Seconds total);

// Activations of the layers of a workload that was made from a model table.

// Fills the lists of activations of `workload`, whose layers are those of the table, and their
// ranges: from a loss in chunks to composed kernels, where the options do not say which.
void add_activations(const ModelTable& table, const ProfileOptions& options, Workload& workload);

} // namespace stepsim::layers
