#pragma once
// The machine of a cluster and the collective library that runs on it, as plain values of a
// scenario or a collective; library_settings.hpp reads them.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "library/library_record.hpp"
#include "library/node_links.hpp"
#include "json/json.hpp"

namespace stepsim::study {

struct LibrarySettings {
  library::LibraryOptions options{};
  std::shared_ptr<const library::Calibration> calibration{};
  io::Json calibration_written{}; // name or object, null = none
};

// The preset, else the node type of the calibration.
struct NodeSource {
  library::NodeType type;
  library::NodeLinks links; // for collectives whose messages are evaluated one by one
  std::string written;      // the preset, "" where the calibration gives the node type
};

// A value that replaces another of the node type.
struct Override {
  std::string pointer;
  io::Json value, of_node; // null: of_node is not a single number
};

} // namespace stepsim::study
