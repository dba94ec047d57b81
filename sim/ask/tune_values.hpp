#pragma once
// Which values of a knob are tried, and in which scenario: where a bucket size changes the buckets
// only at certain values, those alone; elsewhere an even scan on a logarithmic scale.
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
  train::DenseBaseline baseline = train::DenseBaseline::sequential; // density
};

// What will be run.
struct TuneValues {
  io::Json scenario;            // with the algorithm or schedule that reads the knob
  std::vector<io::Json> values; // ascending where they are numbers
  io::Json default_value;
  bool exact = false;             // no other value can be better
  bool refine = false;            // between the neighbours of the best, on a logarithmic scale
  bool whole = false;             // integers only
  std::vector<std::string> notes; // what was changed in the scenario
};
// Throws InputError for the scenario, UsageError for a knob that it cannot have.
[[nodiscard]] TuneValues tune_values(const TuneProblem& problem, Files& files);

} // namespace stepsim::study
