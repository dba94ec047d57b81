#pragma once
// A layer-wise compute trace: the forward and backward times of each layer and its gradients (IO
// 3). Layers are in forward order, tensors of a layer in gradient-ready order (a bias before its
// weight). docs/file-formats.md describes the file format, scenario/files/trace_file.hpp reads and
// writes it, the importers in import/ make it, and scenario/files/keys/trace_keys.hpp explains
// every member.
#include <string>
#include <vector>

#include "base/units.hpp"
#include "base/words.hpp"

namespace stepsim::layers {

// The origin of the layer times, which is printed with every result.
enum class Provenance { measured, imported, assumed, synthetic, scaled, estimated };
inline constexpr auto kProvenances = base::words<Provenance>();

// The words of element types, as frameworks name them, and the bytes of one value: 4 for float32, 0
// for an unknown word.
[[nodiscard]] std::span<const std::string_view> dtype_words();
[[nodiscard]] std::int64_t dtype_bytes(std::string_view dtype);

// The unit of a gradient in a workload: a parameter tensor, a layer, or a weight with its
// neighbours (MOD 8).
enum class Granularity { tensor, layer, weight };
inline constexpr auto kGranularities = base::words<Granularity>();

struct Tensor {
  std::optional<std::int64_t> elements{};
  std::string dtype; // "float32", ...; empty = unknown
  std::optional<Bytes> bytes;
  std::optional<std::int64_t> bucket{}; // measured bucket, from 0 in launch order
  std::string name{};                   // empty = unknown
  std::vector<std::int64_t> shape{};    // empty = unknown
  Bytes extra_bytes{};                  // bytes in its bucket besides the gradients
};

struct Layer {
  std::string name;
  std::optional<Seconds> forward; // empty if unknown (a trace with sizes only)
  std::optional<Seconds> backward;
  std::optional<Bytes> gradient_bytes;
  std::vector<Tensor> tensors;
  std::string operation; // "aten::conv2d"; empty = unknown
};

// The time of a measured collective from the moment at which the last rank enters to its end, over
// the steps. It is known only if the files of several ranks were read.
struct MeasuredTransfer {
  // `low` and `high` are the 5 % and 95 % quantiles; empty with fewer than five steps.
  std::optional<Seconds> median, low, high;
  std::vector<Seconds> wait; // [rank]: median wait per call; empty if unknown
};

// A message of the framework during the trace: its size, and the time of its exchange over the
// steps.
struct MeasuredBucket {
  std::int64_t elements{};
  Bytes bytes;
  std::string dtype;
  std::int64_t tensors{};
  std::optional<Seconds> min, median, max; // empty if launched without a kernel (one GPU)
  MeasuredTransfer transfer{};
  // "replica" if the bucket is a shard, which is reduced over the ranks that hold the same shard;
  // empty if it is reduced over all ranks.
  std::string group{};
};

struct MeasuredCollective { // a collective that is no bucket, for example a broadcast of buffers
  std::string op;
  std::int64_t elements{};
  Bytes bytes;
  std::string dtype;
  std::int64_t per_step{};
  std::optional<Seconds> min;
  MeasuredTransfer transfer{};
};

// A part of a sharded model that is gathered and reduced as one message (FSDP): its number of
// elements before sharding, and the positions of its layers in forward order.
struct MeasuredUnit {
  std::int64_t elements{};
  std::string gather_dtype, reduce_dtype; // empty = unknown
  std::int64_t gathers_forward{}, gathers_backward{};
  std::int64_t first_layer{}, last_layer{};
};

struct MeasuredSharding {
  std::int64_t group_size{};
  std::optional<std::int64_t> world_size;
  bool reshard_after_forward = false;
};

// One step of the trace; only steps with `used` contribute to the times of the layers.
struct MeasuredStep {
  std::string name;
  bool used = false;
  std::optional<std::int64_t> rank{}; // position of its profile; empty = there is one profile
  Seconds wall, gpu_busy, compute_busy, exposed_communication;
  Seconds forward, backward, gradient_nodes, update, framework, input, other, communication;
  // How long the step took on the device, from the end of the work of the step before it to the end
  // of its own: the sum of the others, which say what the device did (every moment counts once, for
  // the first that fits). 0 if unknown.
  Seconds step, step_compute, step_exchange, step_other_collectives, step_input, step_host,
      step_idle;
};

// Checks of the import, from which users can judge how well the importer understood the trace.
struct Checks {
  std::int64_t steps_used{};
  std::int64_t backward_nodes{};
  std::int64_t backward_matched{};
  std::int64_t gradient_nodes{};
  double unattributed_fraction{};
  std::optional<double> gpu_busy_fraction;
  std::optional<double> rank_spread; // set for several files only
  std::optional<double> idle_fraction, launch_idle_fraction;
  std::optional<double> recompute_fraction; // part of the forward time that backward repeats
  std::optional<double> graph_fraction;     // part of the device time in CUDA graphs
  // [rank], for several files whose clocks could be aligned: the part of the time of collectives
  // that was waiting, and the part of collectives that the rank entered last.
  std::vector<double> wait_fraction, last_rank;
};

struct SourceFile {
  std::string name; // name without folder
  std::int64_t bytes{};
  std::string sha256;
};

struct Source {
  std::string format;
  std::vector<SourceFile> files;
  std::string importer; // "stepsim 0.1.0"
  std::vector<std::pair<std::string, std::string>> options;
  std::optional<std::string> attribution;
  std::optional<std::string> licence;
};

struct Trace {
  std::string name;
  Provenance provenance = Provenance::imported;
  std::optional<Source> source;
  std::optional<std::string> device;
  std::optional<std::int64_t> ranks;
  std::optional<std::int64_t> batch_size;
  std::optional<std::string> time_basis; // "kernel" or "wall"
  double time_scale = 1.0;
  // The unit that the source sends as one message or reports as one gradient; empty if unknown. A
  // workload uses it by default.
  std::optional<Granularity> granularity;
  // Micro-steps per update; empty means 1. The layers have the times of one micro-step.
  std::optional<std::int64_t> accumulation;
  // Whether every micro-step reduces its gradients, and not only the last one of an update.
  bool reduces_each = false;
  std::vector<Layer> layers; // forward order, at least one
  Seconds update, input, other, framework;
  std::vector<MeasuredBucket> buckets;
  std::vector<MeasuredCollective> collectives;
  std::vector<MeasuredUnit> units; // in forward order; empty = not sharded
  std::optional<MeasuredSharding> sharding;
  std::vector<MeasuredStep> steps;
  std::optional<Checks> checks;
  std::vector<std::string> warnings;
};

} // namespace stepsim::layers
