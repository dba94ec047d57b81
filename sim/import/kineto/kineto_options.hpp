#pragma once
// What the user says about Kineto traces that the files do not say.
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/units.hpp"
#include "files/import_options.hpp"
#include "train/workload/model_table.hpp"

namespace stepsim::io {

// Whether layer times are the kernels' own or also the gaps between them.
enum class TimeBasis { kernel, wall };

// Empty options stand for what the file says, or for unknown.
struct KinetoOptions {
  ImportOptions common;
  std::optional<std::int64_t> batch_size;     // samples per worker and iteration; not in the file
  std::int64_t skip_steps = 1;                // warm-up
  std::optional<std::string> step_annotation; // regular expression for steps
  std::optional<std::string> model;           // table with the gradient sizes
  // wall: layer times are scaled so that computing and exposed communication fill the wall time of
  // the step.
  TimeBasis time = TimeBasis::kernel;
  std::optional<Seconds> measured_step;        // the same with this unprofiled step time
  std::optional<double> backward_ratio;        // backward = ratio x forward, forward-only traces
  std::span<const train::ModelTable> models{}; // tables to choose from
  // Further sources of gradient sizes (kineto_sizes.hpp): files, and what the user knows.
  std::optional<std::string> sizes;
  bool sizes_in_ready_order = false; // else in order of registration
  std::optional<std::string> ddp_log;
  std::optional<std::string> flight_record;
  std::optional<std::string> pytorch_et;
  std::optional<std::int64_t> parameters; // elements of all gradients
  std::optional<std::string> dtype;       // a word of traces, where nothing recorded says
  bool keep_layers = false;               // however many there are (kineto_joined.hpp)
  // Events of a file in memory; more go to a temporary file, which changes no result.
  std::size_t most_events = std::size_t{1} << 19;
  bool with_costs = false; // also what its collectives tell of the link
};

} // namespace stepsim::io
