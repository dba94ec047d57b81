#pragma once
// A network profile for the terminal: the ranks and sizes for which it is valid, latency and
// bandwidth per kind of link, measured curves of collectives, how much longer all-reduces take
// during training, and the costs of compressing.
#include <string>

#include "net/profile/profile.hpp"

namespace stepsim::cli {

// Names and notes of the file are made printable, because a file may hold control characters.
[[nodiscard]] std::string profile_text(const net::NetworkProfile& profile);

} // namespace stepsim::cli
