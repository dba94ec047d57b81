#pragma once
// A network profile for the terminal: latency and bandwidth per kind of link, measured curves of
// collectives, what training adds, and for what it is valid.
#include <string>

#include "net/profile/profile.hpp"

namespace stepsim::cli {

[[nodiscard]] std::string profile_text(const net::NetworkProfile& profile);

} // namespace stepsim::cli
