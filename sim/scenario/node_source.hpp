#pragma once
// The machine of a cluster and its collective library, as plain values of a scenario or a
// collective. scenario_library.hpp reads them.

#include "document/json.hpp"
#include "nccl/library_record.hpp"

namespace stepsim::study {

struct LibrarySettings {
  nccl::LibraryOptions options{};
  std::shared_ptr<const nccl::Calibration> calibration{};
  io::Json calibration_written{}; // name or object, null = none
};

// The node type of the preset, else that of the calibration.
struct NodeSource {
  nccl::NodeType type;
  nccl::NodeLinks links; // for collectives whose messages are evaluated one by one
  std::string written;   // the preset; "" if the calibration gives the node type
  std::string gpu{};     // of the preset, in words
  std::optional<double> price_per_gpu_hour{}; // USD; of the preset
  std::optional<double> gpu_memory_bytes{};   // of the preset
  std::string price_source{};                 // label and source of the price
  std::string uncalibrated{};                 // the note of a preset with this label
};

// A value in the scenario that replaces a value of the node type.
struct Override {
  std::string pointer; // JSON pointer of the key
  // The given value, and the replaced one, which is null if it is not a single number.
  io::Json value, of_node;
};

} // namespace stepsim::study
