#pragma once
// Describes a network profile for the terminal: valid ranks and sizes, latency and bandwidth per
// kind of link, measured curves of collectives, how much longer all-reduces take during training,
// and compression costs.
#include <string>

#include "links/profile/profile.hpp"

namespace stepsim::cli {

// Control characters in names and notes of the file are escaped.
[[nodiscard]] std::string profile_text(const links::NetworkProfile& profile);

} // namespace stepsim::cli
