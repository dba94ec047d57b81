#pragma once
// Synthetic profiler traces with a known answer (IO 18, item 1). The generator plays a training
// job: it decides layers, kernels and buckets first and writes the events that a profiler would
// have seen, with everything that makes real files awkward: operators that share a sequence number
// without owning it, several threads, missing arguments, string ids, integer or three-decimal
// stamps near 1.7e15, work that runs in a later step. The same seed gives the same text.
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "layers/model_table.hpp"
#include "layers/trace.hpp"

namespace stepsim::io {

struct KinetoGeneratorOptions {
  std::uint64_t seed = 1;
  int steps = 3;
  int layers = 5;
  int rank = 0;
  bool integer_stamps = false; // whole microseconds, as older profilers write
  bool string_ids = false;     // pid and tid as strings
  bool old_categories = false; // "Kernel", "Runtime", "Operator", ...
  bool buckets = true;         // all-reduces with size arguments
  bool shapes = false;         // recorded input shapes of the gradients
  bool bare_array = false;     // no object around the events
  bool unrelated = false;      // events that must not matter
  bool shuffled = false;       // order of the events
};

struct GeneratedTrace {
  std::string text;         // the file
  layers::Trace expected;   // what the importer must find, with its default options
  layers::ModelTable table; // a table that fits the gradients
  std::int64_t events{};
};

[[nodiscard]] GeneratedTrace generate_kineto(const KinetoGeneratorOptions& options);

// Passes the same text to `sink`, step by step, so that a trace may be larger than memory; returns
// the number of events. Events cannot be shuffled (asserted).
std::int64_t write_kineto(const KinetoGeneratorOptions& options,
                          const std::function<void(std::string_view)>& sink);

} // namespace stepsim::io
