#pragma once
// `meta` of commands that simulate packets: the usual keys, and how fast the simulation was.
#include <cstdint>
#include <optional>

#include "cli/shell/app.hpp"
#include "json/json.hpp"

namespace stepsim::cli {

// Rates are of the simulation alone, without reading and writing.
[[nodiscard]] io::Json simulation_meta(const Invocation& invocation, std::uint64_t events,
                                       std::optional<std::uint64_t> packet_hops,
                                       double simulation_s);

} // namespace stepsim::cli
