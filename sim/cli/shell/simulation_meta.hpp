#pragma once
// `meta` of commands that simulate packets: the usual keys, and the speed of the simulation.
#include <cstdint>
#include <optional>

#include "cli/shell/app.hpp"
#include "document/json.hpp"

namespace stepsim::cli {

// Adds events_per_s and packet_hops_per_s, for the simulation without reading and writing, and
// peak_rss_bytes of the whole process. `simulation_s` is in wall-clock seconds; 0 leaves out both
// rates. Without `packet_hops` (flow level) the second rate is left out.
[[nodiscard]] io::Json simulation_meta(const Invocation& invocation, std::uint64_t events,
                                       std::optional<std::uint64_t> packet_hops,
                                       double simulation_s);

} // namespace stepsim::cli
