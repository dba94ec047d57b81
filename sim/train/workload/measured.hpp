#pragma once
// Training speeds that somebody measured and published: samples per second and GPU by method and
// number of ranks, and where the time of one update went. To be laid beside what the simulator
// says; nothing is computed from them. Methods are the words of `compression.method`, `none` being
// dense training. Seconds; one update = all its micro-batches.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace stepsim::train {

struct MeasuredPhases {
  std::int64_t ranks{};
  std::string method; // "" where the file does not say
  Seconds compute, compress, communication;
};

struct MeasuredThroughput {
  std::string method;
  std::vector<std::pair<std::int64_t, double>> samples_per_s_per_gpu; // by ranks, ascending
};

struct MeasuredModel {
  std::string name;
  std::optional<std::int64_t> parameters; // empty = the source does not say
  std::optional<std::int64_t> batch_size; // per GPU and update
  std::string note;
  std::optional<MeasuredPhases> phases;
  std::vector<MeasuredThroughput> throughput;
};

struct MeasuredTraining {
  std::string name;
  std::string source; // where the numbers come from
  std::string note;
  std::vector<MeasuredModel> models;
};

// Samples per second and GPU; empty where it was not measured.
[[nodiscard]] inline std::optional<double>
measured_speed(const MeasuredModel& model, std::string_view method, std::int64_t ranks) {
  for (const MeasuredThroughput& row : model.throughput) {
    for (const auto& [known_ranks, speed] : row.samples_per_s_per_gpu) {
      if (row.method == method && known_ranks == ranks) {
        return speed;
      }
    }
  }
  return std::nullopt;
}

} // namespace stepsim::train
