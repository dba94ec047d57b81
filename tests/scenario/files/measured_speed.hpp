#pragma once
// Speeds of a file of measured training, as tests look them up.
#include <cstdint>
#include <optional>
#include <string_view>

#include "layers/measured.hpp"

namespace stepsim::layers {

// Samples per second and GPU; empty if they were not measured.
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

} // namespace stepsim::layers
