#pragma once
// The options of `stepsim import kineto`, which supply what the files do not say.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/units.hpp"
#include "layers/model_table.hpp"
#include "scenario/files/import_options.hpp"

namespace stepsim::io {

// kernel: layer times are sums of kernel times. wall: they are scaled so that computing and exposed
// communication fill the wall time of the step; they then contain the gaps between kernels.
enum class TimeBasis { kernel, wall };

// An empty option means that the value of the file is used, or is unknown.
struct KinetoOptions {
  ImportOptions common;
  std::optional<std::int64_t> batch_size;     // samples per worker and iteration; not in the file
  std::int64_t skip_steps = 1;                // number of first steps to leave out, as warm-up
  std::optional<std::string> step_annotation; // regular expression for steps
  std::optional<std::string> model;           // name of the table with the gradient sizes
  TimeBasis time = TimeBasis::kernel;
  // Time of a step measured without the profiler. If given, TimeBasis::wall is used with this time.
  std::optional<Seconds> measured_step;
  std::optional<double> backward_ratio; // backward time / forward time, for forward-only traces
  std::span<const layers::ModelTable> models{}; // tables to choose from
  // Further sources of gradient sizes (kineto_sizes.hpp): paths of files, and a total.
  std::optional<std::string> sizes;
  bool sizes_in_ready_order = false; // else in order of registration
  std::optional<std::string> ddp_log;
  std::optional<std::string> flight_record;
  std::optional<std::string> pytorch_et;
  std::optional<std::int64_t> parameters; // elements of all gradients
  std::optional<std::string> dtype;       // type of gradients if no event has one: "float32"
  bool keep_layers = false;               // never joins layers (kineto_joined.hpp)
  // Largest number of events of a file in memory; a file with more uses a temporary file, which
  // changes no result. With `step_annotation` there is no limit.
  std::size_t most_events = std::size_t{1} << 19;
  bool with_costs = false; // also estimates the cost of the link (kineto_cost.hpp)
};

} // namespace stepsim::io
