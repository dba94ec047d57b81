#pragma once
// Node types (kind node_preset, CLU 9): the machine that the library model starts from, with the
// nominal rates and sources that only readers want.
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "library/layout.hpp"
#include "json/json.hpp"
#include "json/reader.hpp"

namespace stepsim::io {

// A number of the file with its source, for tables.
struct SourcedNumber {
  std::string key;
  double value{};
  double low{}, high{};      // of what was measured; the value where the file says nothing
  std::string label, source; // "" where the number is plain
};

struct NodePreset {
  library::NodeType node;
  std::string label; // of keys::kNodeLabels
  std::string note, gpu;
  std::optional<double> link_nominal_Bps, nic_nominal_Bps;
  std::vector<SourcedNumber> numbers; // in the order of the file's rows
};

// Throws InputError with all problems found.
[[nodiscard]] NodePreset parse_node_preset(const Json& json);

// The node types that come with the program, topologies/nodes/ in the data folder: path by name.
// Throws InputError where the folder cannot be read; none without a data folder.
[[nodiscard]] std::map<std::string, std::string>
shipped_node_presets(const std::string& data_folder);
// The path of a shipped node type. Throws UsageError for an unknown name, with the nearest ones,
// and InputError as shipped_node_presets.
[[nodiscard]] std::string shipped_node_preset(const std::string& data_folder,
                                              const std::string& name);
// The node type of a name, or of a path: a text with a slash or the ending .json. Throws as
// shipped_node_preset and parse_node_preset.
[[nodiscard]] NodePreset read_node_preset(const std::string& data_folder, const std::string& name);

// The keys of the library model, of a preset or of `node` in a calibration; numbers are added to
// `numbers`. The name is not among them.
[[nodiscard]] library::NodeType read_node_type(Fields& fields, std::vector<SourcedNumber>& numbers);
// The same keys with plain numbers; read_node_type of them gives the same value.
void write_node_type(const library::NodeType& node, Json& object);

} // namespace stepsim::io
