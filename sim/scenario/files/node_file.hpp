#pragma once
// Node types (kind node_preset, CLU 9): a machine for the library model, with nominal rates and
// sources for readers.

#include "document/reader.hpp"
#include "links/profile/profile.hpp"
#include "nccl/layout.hpp"

namespace stepsim::io {

// A number of the file with its source, for tables.
struct SourcedNumber {
  std::string key;
  double value{};
  double low{}, high{};      // range of the measurements; `value` if the file gives none
  std::string label, source; // "" for a plain number
};

struct NodePreset {
  nccl::NodeType node;
  std::string label; // one of keys::kNodeLabels
  std::string note, gpu;
  std::optional<double> link_nominal_Bps, nic_nominal_Bps;
  std::vector<SourcedNumber> numbers; // in the order of the keys
};

// Throws InputError with all problems, also those of the file that `of_nominal` names.
[[nodiscard]] NodePreset parse_node_preset(const Json& json);

// The path of the file that `of_nominal` names, from the working directory; "" if it names none.
[[nodiscard]] std::string file_of_shares(const Json& preset);
// The preset with the rates that the shares of `of_nominal` give. Problems are added.
[[nodiscard]] Json with_rates_of_nominal(const Json& preset, Problems& problems);

// Reads `of_nominal`, an object with some of the keys of keys::kNominalRates.
[[nodiscard]] std::vector<SourcedNumber> read_nominal_shares(Fields& parent);
// The object; null if there are no shares.
[[nodiscard]] Json nominal_shares_json(const std::vector<SourcedNumber>& shares);

// Reads the node type of a name, or of a path (study::is_shipped_name). Throws as
// study::shipped_file() and parse_node_preset() do.
[[nodiscard]] NodePreset read_node_preset(const std::string& data_folder, const std::string& name);

// Reads the keys of the library model, all but the name, from a preset or from `node` of a
// calibration. Appends sourced numbers to `numbers`.
[[nodiscard]] nccl::NodeType read_node_type(Fields& fields, std::vector<SourcedNumber>& numbers);
// Adds the same keys to `object`, with plain numbers; read_node_type() of them gives an equal
// value.
void write_node_type(const nccl::NodeType& node, Json& object);

// The links of a node type as a network profile: its network is the fabric between nodes, which
// `"network": "dgx_h100"` of a scenario selects, and its link class is the link between GPUs, which
// `"intra_network": "dgx_h100"` selects.

[[nodiscard]] links::NetworkProfile profile_of_node(const NodePreset& preset);

} // namespace stepsim::io
