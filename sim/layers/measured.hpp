#pragma once
// Published measurements of training speeds: samples per second and GPU by compression method and
// number of ranks, and the parts of the time of one update. They are shown next to simulated
// results; no simulation uses them. Methods are the words of the key compression/method; `none` is
// dense training.
// Times are seconds per update, which includes all its micro-batches.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace stepsim::layers {

// The parts as the source reports them. Whether `communication` is all communication or only what
// computing does not hide depends on the source.
struct MeasuredPhases {
  std::int64_t ranks{};
  std::string method; // empty if the file does not give it
  Seconds compute, compress, communication;
};

struct MeasuredThroughput {
  std::string method;
  std::vector<std::pair<std::int64_t, double>> samples_per_s_per_gpu; // by ranks, ascending
};

struct MeasuredModel {
  std::string name;
  std::optional<std::int64_t> parameters; // empty if the source does not give them
  std::optional<std::int64_t> batch_size; // per GPU and update
  std::string note;
  std::optional<MeasuredPhases> phases;
  std::vector<MeasuredThroughput> throughput;
};

struct MeasuredTraining {
  std::string name;
  std::string source; // origin of the numbers
  std::string note;
  std::vector<MeasuredModel> models;
};

} // namespace stepsim::layers
