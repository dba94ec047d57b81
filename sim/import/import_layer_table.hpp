#pragma once
// Imports a hand-made table of layers (IO 9): CSV (RFC 4180, or tabs) with one row per layer in
// forward order and columns in any order:
//   name, params (elements) or bytes, a forward and a backward time (fwd_us, forward_ms, bwd_s,
//   ..), optional dtype (default float32) and tensors
// `tensors` is the number of tensors (default 1; for several, the sizes are unknown), or their
// elements in registration order: 2048000;1000.
#include "layers/model_table.hpp"
#include "scenario/files/import_source.hpp"

namespace stepsim::io {

// Returns times in seconds and sizes in bytes. Throws InputError
// `layers.csv:7: bwd_us: not a number: "1,2"` (IO 17), for up to 20 rows at once; a wrong header
// gives a single error.
[[nodiscard]] layers::Trace import_layer_table(const std::string& file,
                                               const ImportOptions& options);

// Imports workloads of ASTRA-sim 1.0 and SimAI (IO 9, INP 2.5): a text with the kind of
// parallelism, the number of layers, and one line per layer with the times of its three passes, the
// communication of each pass, and the time of its update:
//   name reserved  forward type bytes  input_gradient type bytes  weight_gradient type bytes update
// Times are in ticks, whose length the file does not give. Only an ALLREDUCE, REDUCESCATTER or
// ALLGATHER of the weight gradient is data-parallel (not ALLREDUCE_EP, which is within groups of
// experts), and none is if the kind of parallelism is MODEL.

struct AstraTextOptions {
  ImportOptions common;
  Seconds tick{1e-9};
  bool tick_given = false;               // otherwise a warning names the assumed length
  bool drop_other_communication = false; // ignores communication that is not data-parallel
};

// Layers are in file order. Their gradients are the reduced data (ALLREDUCE, REDUCESCATTER);
// all-gathers of parameters are in `collectives`. Throws InputError
// `work.txt:4: expected 12 fields, got 11`, and for communication that is not data-parallel, with
// the first such layers, unless drop_other_communication is set.
[[nodiscard]] layers::Trace import_astra_text(const std::string& file,
                                              const AstraTextOptions& options);

// Imports layer logs of B-Caffe (MER 9): rows `[id, elements, backward_us, communication_us(,
// merged_us)]` in forward order, one per parameter blob. Consecutive rows with equal backward time
// are one layer, because weight and bias share a timer. The communication times become measured
// exchanges on the network of the logged cluster: a blob whose time is 0 was sent together with the
// one before it. The last column must be a time but is not used. The log has no forward times:
// forward is set to 0.5 x backward, and the trace is marked `assumed`. Elements stay as logged,
// where B-Caffe has padded each blob to a multiple of 64. Rows without backward time are left out.
// A log may have several dumps of the layers; the last one with times is used.

struct CaffeLogOptions {
  ImportOptions common;
  // The table that names the rows; by default the first one that fits, else layers are numbered.
  std::optional<std::string> model;
  std::span<const layers::ModelTable> models{};
  std::optional<std::int64_t> ranks{}; // of the logged cluster; not in the file
};

// Throws InputError for rows that cannot be read, gaps between ids, a log without rows or times,
// and a `model` that does not fit, and UsageError for an unknown model (MER 12).
[[nodiscard]] layers::Trace import_caffe_log(const std::string& file,
                                             const CaffeLogOptions& options);

} // namespace stepsim::io
