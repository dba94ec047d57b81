#pragma once
// `meta` of commands that simulate packets: the usual keys, and how fast the simulation was.
#include <cstdint>
#include <optional>

#include "cli/shell/app.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// Adds events_per_s and packet_hops_per_s, of the simulation alone without reading and writing, and
// peak_rss_bytes of the whole process. `simulation_s`: wall-clock seconds; 0 leaves out both rates,
// an empty `packet_hops` (flow level) the second one.
[[nodiscard]] io::Json simulation_meta(const Invocation& invocation, std::uint64_t events,
                                       std::optional<std::uint64_t> packet_hops,
                                       double simulation_s);

} // namespace stepsim::cli
