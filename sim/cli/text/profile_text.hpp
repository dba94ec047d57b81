#pragma once
// A network profile for the terminal: latency and bandwidth per kind of link, measured curves of
// collectives, what training adds, and for what it is valid.
#include <string>

#include "net/profile/profile.hpp"

namespace stepsim::cli {

// Names and notes of the file are made printable, because a file may hold control characters.
[[nodiscard]] std::string profile_text(const net::NetworkProfile& profile);

} // namespace stepsim::cli
