#pragma once
// Chooses the values of a knob that are tried, and the scenario they are tried in:
//   bucket sizes            the values at which the buckets change (tune_buckets.hpp) or, if there
//                           are many, whole MiB that are evenly spaced on a logarithmic scale
//   pipeline_width          every width
//   collective, schedule    every word that the scenario can have
//   all other knobs         values that are evenly spaced on a logarithmic scale
#include <string>
#include <vector>

#include "document/json.hpp"
#include "programs/step/compression_gain.hpp"
#include "scenario/files.hpp"
#include "scenario/scenario.hpp"
#include "study/tune_knobs.hpp"

namespace stepsim::study {

struct TuneProblem {
  io::Json scenario;
  Knob knob{};
  // Knob density only: the kind of dense training that compression must not be slower than.
  programs::DenseBaseline baseline = programs::DenseBaseline::sequential;
};

// The values that will be run, and the scenario for them.
struct TuneValues {
  io::Json scenario;            // with the algorithm or schedule that reads the knob
  std::vector<io::Json> values; // ascending if they are numbers
  io::Json default_value;       // default of the knob's key; null for density
  bool exact = false;           // no value outside `values` can be better
  int refinements = 0;          // rounds in which values around the best are tried next
  std::int64_t unit = 0;        // values are multiples of it; 0: any number
  // The answer is the value nearest the default within 1 % of the best, not the best itself.
  bool near_default = false;
  std::vector<std::string> notes; // sentences about what was changed in the scenario
};
// The values for `problem`. Throws InputError if the scenario is invalid, and UsageError if it
// cannot have the knob.
[[nodiscard]] TuneValues tune_values(const TuneProblem& problem, Files& files);

} // namespace stepsim::study
