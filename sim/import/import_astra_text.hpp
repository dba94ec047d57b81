#pragma once
// Imports workloads of ASTRA-sim 1.0 and SimAI (IO 9, INP 2.5): a text with the kind of
// parallelism, the number of layers, and one line per layer with the times of its three passes, the
// communication of each pass, and the time of its update:
//   name reserved  forward type bytes  input_gradient type bytes  weight_gradient type bytes update
// Times are in ticks, whose length the file does not give. Only an ALLREDUCE, REDUCESCATTER or
// ALLGATHER of the weight gradient is data-parallel (not ALLREDUCE_EP, which is within groups of
// experts), and none is if the kind of parallelism is MODEL.

#include "scenario/files/import_source.hpp"

namespace stepsim::io {

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

} // namespace stepsim::io
