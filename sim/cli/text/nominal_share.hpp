#pragma once
// How much of its nominal rate a network reaches: of a profile its bandwidth over /network/
// nominal_Bps, of a node type the link inside a machine and one network card.
#include <string>
#include <vector>

#include "json/json.hpp"

namespace stepsim::cli {

struct NominalShare {
  std::string of;                // network, inside or card
  double value{}, low{}, high{}; // ratios; low and high of what was measured, else the value
};
// Of a file of kind network_calibration or node_preset, from its tree, since lists show what there
// is; none where a rate is missing or no number.
[[nodiscard]] std::vector<NominalShare> nominal_shares(const io::Json& tree);

// "18 % (15 to 21)", or "inside 33 % (26 to 41), card 43 % (36 to 51)"; "" for none.
[[nodiscard]] std::string share_text(const std::vector<NominalShare>& shares);

// {"network": {"value": 0.18, "low": 0.15, "high": 0.21}}; null for none.
[[nodiscard]] io::Json share_tree(const std::vector<NominalShare>& shares);

} // namespace stepsim::cli
