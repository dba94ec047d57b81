#pragma once
// Reached rate / nominal rate of a network. For a profile it is bandwidth / nominal_Bps of
// /network; for a node type there are two, of the link inside a machine and of one network card.
#include <string>
#include <vector>

#include "json/json.hpp"

namespace stepsim::cli {

struct NominalShare {
  std::string of;                // low and high of the measured rate, or `value`
  double value{}, low{}, high{}; // ratios; low and high of what was measured, else the value
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
