#pragma once
// Workloads of ASTRA-sim 1.0 and SimAI (IO 9, INP 2.5): a text with the kind of parallelism, the
// number of layers, and one line per layer with the times of its three passes, each with one
// communication, and the time of its update:
//   name reserved  forward type bytes  input_gradient type bytes  weight_gradient type bytes update
// Times are ticks, whose length is not in the file. The communication of the weight gradient is
// data-parallel; all other communication, and that of groups of experts, is not.
#include <string>

#include "base/units.hpp"
#include "files/import_options.hpp"
#include "train/workload/trace.hpp"

namespace stepsim::io {

struct AstraTextOptions {
  ImportOptions common;
  Seconds tick{1e-9};
  bool tick_given = false;               // else a warning says which was assumed
  bool drop_other_communication = false; // layers keep their times, and what is data-parallel
};

// Layers in the order of the file; their gradients are what they reduce (ALLREDUCE, REDUCESCATTER),
// and all-gathers of parameters stand in `collectives`. Throws InputError `work.txt:4: expected 12
// fields, got 11` and, unless it is dropped, for communication that is not data-parallel, with the
// first layers that have such.
[[nodiscard]] train::Trace import_astra_text(const std::string& file,
                                             const AstraTextOptions& options);

} // namespace stepsim::io
