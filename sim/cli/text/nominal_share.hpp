#pragma once
// Ratio of the measured rate of a network to its nominal rate. A network profile has one ratio,
// bandwidth_Bps / nominal_Bps of /network. A node type has two: of the link inside a node, and of
// one network interface.
#include <string>
#include <vector>

#include "document/json.hpp"

namespace stepsim::cli {

struct NominalShare {
  std::string of;                // "network", "inside" (a node) or "card" (a network interface)
  double value{}, low{}, high{}; // ratios; low and high are `value` if the file has no interval
};
// The ratios of the tree of a file of kind network_calibration or node_preset; a ratio is left out
// if a rate is missing or is not a number. The argument is a tree, because lists also show files
// that are not valid.
[[nodiscard]] std::vector<NominalShare> nominal_shares(const io::Json& tree);

// "18 % (15 to 21)", or "inside 33 % (26 to 41), card 43 % (36 to 51)"; "" if there are none.
[[nodiscard]] std::string share_text(const std::vector<NominalShare>& shares);

// {"network": {"value": 0.18, "low": 0.15, "high": 0.21}}; null if there are none.
[[nodiscard]] io::Json share_tree(const std::vector<NominalShare>& shares);

} // namespace stepsim::cli
