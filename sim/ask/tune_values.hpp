#pragma once
// Which values of a knob are tried, and in which scenario: where a bucket size changes the buckets
// only at certain values, those alone; every width of a pipeline; every collective or schedule that
// the scenario can have; elsewhere an even scan on a logarithmic scale.
#include <string>
#include <vector>

#include "ask/tune_knobs.hpp"
#include "scenario/files.hpp"
#include "train/step/compression_gain.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct TuneProblem {
  io::Json scenario;
  Knob knob{};
  // Knob density: the dense training that compression must be at least as fast as.
  train::DenseBaseline baseline = train::DenseBaseline::sequential;
};

// What will be run.
struct TuneValues {
  io::Json scenario;              // with the algorithm or schedule that reads the knob
  std::vector<io::Json> values;   // ascending where they are numbers
  io::Json default_value;         // of the key; null for density
  bool exact = false;             // no other value can be better
  bool refine = false;            // then try values between the best and its neighbours
  bool whole = false;             // integers only
  std::vector<std::string> notes; // what was changed in the scenario
};
// Throws InputError for the scenario, UsageError for a knob that it cannot have.
[[nodiscard]] TuneValues tune_values(const TuneProblem& problem, Files& files);

} // namespace stepsim::study
