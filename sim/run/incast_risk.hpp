#pragma once
// Warns of packet losses by incast, which the flow level does not simulate. If N hosts start a TCP
// flow to the same host together, their first windows overflow the buffer of the last port if
//
//     W (N - 1) + 1 > Q        W packets per first window, Q packets of buffer
//
// One window does not fill the buffer, because packets of one host arrive no faster than the port
// sends them. Source: PKT 4, 6.4.
#include <optional>
#include <string>

#include "run/flows_file.hpp"

namespace stepsim::study {

// The warning for the host whose buffer overflows most. Packets that the port has sent before the
// next flow starts no longer count. Empty if no buffer overflows, if the file names no transport or
// one other than reno and dctcp, and if the buffer has no limit.
[[nodiscard]] std::optional<std::string> incast_risk(const FlowsFile& file);

} // namespace stepsim::study
