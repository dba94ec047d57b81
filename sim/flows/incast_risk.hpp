#pragma once
// Whether a list of flows over TCP would lose packets that the flow level does not see (incast).
// The first windows of N flows from different hosts that start together to one host overflow the
// buffer of its port if
//
//     W (N - 1) + 1 > Q        W packets of a first window, Q packets of the buffer
//
// since the busiest host's packets arrive no faster than the port sends. Source: PKT 4, 6.4.
#include <optional>
#include <string>

#include "flows/flows_file.hpp"

namespace stepsim::study {

// The warning for the host whose buffer overflows most; empty where none does, for transports other
// than reno and dctcp, and for a buffer without limit. What the port has sent by the start of the
// next flow is taken off.
[[nodiscard]] std::optional<std::string> incast_risk(const FlowsFile& file);

} // namespace stepsim::study
