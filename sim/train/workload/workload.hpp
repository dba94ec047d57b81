#pragma once
// What one worker does in one iteration: layers with forward and backward seconds, and the
// gradients that become ready on the way. Made from a trace, a model table with a device, or inline
// layers.
//
// Backward runs from the last layer to the first; all gradients of a layer are ready when its
// backward ends. Gradients are listed in that (backward) order:
//     forward   |--1--|--2--|--3--|
//     backward                    |--3--|--2--|--1--|
//     gradients                         {3}   {2}   {1}
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "coll/compress/compression.hpp"
#include "train/workload/gpu_estimate.hpp"
#include "train/workload/model_table.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::train {

struct WorkLayer {
  std::string name;
  Seconds forward;
  Seconds backward;
};

// One item of the planner (plan/problem.hpp): a parameter tensor, a layer, or a weight with its
// neighbours.
struct Gradient {
  std::uint32_t layer{}; // index in `layers`
  Bytes bytes;
  std::int64_t elements{};                 // 0 = unknown
  std::string dtype;                       // "" = unknown
  std::int64_t registration{};             // position in registration order
  bool measured_order = false;             // the ready order was seen, not assumed
  std::vector<coll::MatrixShape> shapes{}; // of its tensors; empty = unknown
  std::int64_t bucket = -1;                // measured bucket in launch order; -1 = unknown
  // `elements`, else as many values of the dtype as fill the bytes; 4 bytes each where neither is
  // known.
  [[nodiscard]] std::int64_t values() const;
};

struct Workload {
  std::string name;
  Provenance provenance = Provenance::imported;
  std::optional<std::int64_t> batch_size;
  std::vector<WorkLayer> layers;   // forward order, at least one
  std::vector<Gradient> gradients; // backward order
  Seconds update;                  // update + framework copies of the trace
  std::vector<std::string> warnings;
  std::vector<MeasuredBucket> buckets;        // of the trace, in launch order
  std::optional<std::int64_t> measured_ranks; // of the trace
  // Where the times are an estimate for a GPU: between which factors of them measured ones lie.
  std::optional<EstimateInterval> interval{};
  double estimate_scale = 1; // factor of a measured step in them

  // Every gradient with bytes has one of `buckets`.
  [[nodiscard]] bool buckets_cover_gradients() const;
  [[nodiscard]] Seconds forward() const;
  [[nodiscard]] Seconds backward() const;
  [[nodiscard]] Bytes bytes() const;
  [[nodiscard]] std::int64_t values() const;
  // Mean over all gradients; 4 without any.
  [[nodiscard]] double bytes_per_value() const;
};

// The layers and gradients of a trace, joined as `granularity` says. Times and sizes must be known
// (asserted): layers without them are the caller's to refuse. Names of tensors are not kept.
[[nodiscard]] Workload workload_from_trace(const Trace& trace, Granularity granularity);

// The share of its peak that a GPU reaches in training where nothing says: the median of 115
// measured pairs of GPU and model. None of them reaches 1.
inline constexpr double kUsualUtilization = 0.47;

// How a model table gets its times (MOD 8).
struct DeviceSpeed { // forward_s(l) = batch * 2 macs(l) / (flops * utilization) + overhead
  Flops flops;
  double utilization = kUsualUtilization;
};
struct MeasuredTotals { // shares of MACs of these totals
  Seconds forward, backward;
};
struct ProfileOptions {
  std::int64_t batch_size = 1;
  std::optional<DeviceSpeed> device; // exactly one of device, measured and estimate
  std::optional<MeasuredTotals> measured;
  std::optional<GpuEstimate> estimate;
  double backward_factor = 2; // device: backward_s = backward_factor x forward_s
  Seconds layer_overhead;
  int value_bytes = 4;
  Granularity granularity = Granularity::tensor;
};
// Labelled synthetic (device) or scaled (measured), with the warning of MOD 8, or estimated, with
// the time of the update.
[[nodiscard]] Workload workload_from_model(const ModelTable& table, const ProfileOptions& options);

// All backward times times one factor, so that they sum to `total` (MER D11). Nothing changes where
// they sum to 0.
void scale_backward(Workload& workload, Seconds total);

} // namespace stepsim::train
